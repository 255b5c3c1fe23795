// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> usize {
    let inside: &List<Str> = &l.get(mu);
    mu.collect();
    inside.len()
}
