// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) -> usize {
    let made = rebind!(mu, <Map<Str, Str>>::with_capacity(mu, 8).unwrap());
    mu.safepoint();
    made.len()
}
