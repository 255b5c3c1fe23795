// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> &'static List<Str> {
    l.get(mu).as_ref()
}
