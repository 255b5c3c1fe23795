// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> Gc<'static, Str> {
    l.get(mu).remove(mu, 0).unwrap()
}
