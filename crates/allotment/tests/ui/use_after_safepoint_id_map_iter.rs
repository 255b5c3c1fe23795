// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, IdMap<Str, Str>>) -> usize {
    let p = l.get(mu).iter(mu).next().unwrap().0;
    mu.safepoint();
    p.len()
}
