// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>) -> usize {
    let p = rebind!(mu, Interner::intern(mu, l, "k").unwrap());
    mu.safepoint();
    p.len()
}
