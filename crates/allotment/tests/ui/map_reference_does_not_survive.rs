// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> usize {
    let inside: &Map<Str, Str> = &l.get(mu);
    mu.collect();
    inside.len()
}
