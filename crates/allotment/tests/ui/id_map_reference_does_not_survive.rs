// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, IdMap<Str, Str>>) -> usize {
    let inside: &IdMap<Str, Str> = &l.get(mu);
    mu.collect();
    inside.len()
}
