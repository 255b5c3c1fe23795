// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> Gc<'static, Str> {
    l.get(mu).iter(mu).next().unwrap().1
}
