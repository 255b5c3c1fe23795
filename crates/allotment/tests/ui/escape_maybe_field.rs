// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Array<Maybe<Str>>>) -> Gc<'static, Str> {
    l.get(mu).at(0).load(mu).0.unwrap()
}
