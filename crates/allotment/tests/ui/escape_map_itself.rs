// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> &'static Map<Str, Str> {
    l.get(mu).as_ref()
}
