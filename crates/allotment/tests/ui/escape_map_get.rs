// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>, k: Local<'_, Str>) -> Gc<'static, Str> {
    l.get(mu).get(mu, k.get(mu)).unwrap()
}
