// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) -> Gc<'static, Map<Str, Str>> {
    <Map<Str, Str>>::with_capacity(mu, 8).unwrap()
}
