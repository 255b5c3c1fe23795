// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator) -> Gc<'static, List<Str>> {
    <List<Str>>::with_capacity(mu, 8).unwrap()
}
