// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>, k: Local<'_, Str>) -> usize {
    let p = rebind!(mu, Interner::unify(mu, l, k).unwrap());
    mu.safepoint();
    p.len()
}
