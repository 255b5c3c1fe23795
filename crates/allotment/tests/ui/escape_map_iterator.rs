// lifetime
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> Box<dyn Iterator<Item = usize>> {
    Box::new(l.get(mu).iter(mu).map(|_| 1))
}
