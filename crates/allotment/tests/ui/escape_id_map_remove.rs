// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, IdMap<Str, Str>>, k: Local<'_, Str>) -> Gc<'static, Str> {
    l.get(mu).remove(mu, k.get(mu)).unwrap()
}
