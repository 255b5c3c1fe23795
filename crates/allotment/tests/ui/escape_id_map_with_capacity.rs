// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) -> Gc<'static, IdMap<Str, Str>> {
    <IdMap<Str, Str>>::with_capacity(mu, 8).unwrap()
}
