// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> usize {
    let p = l.get(mu).swap_remove(mu, 0).unwrap();
    mu.safepoint();
    p.len()
}
