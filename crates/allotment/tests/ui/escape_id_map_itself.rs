// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, IdMap<Str, Str>>) -> &'static IdMap<Str, Str> {
    l.get(mu).as_ref()
}
