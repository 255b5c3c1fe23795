// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Interner>, k: Local<'_, Str>) -> Gc<'static, Str> {
    Interner::unify(mu, l, k).unwrap()
}
