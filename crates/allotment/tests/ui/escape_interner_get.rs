// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>) -> Gc<'static, Str> {
    l.get(mu).get(mu, "k").unwrap()
}
