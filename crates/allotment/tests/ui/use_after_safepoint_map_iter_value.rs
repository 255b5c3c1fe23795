// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> usize {
    let p = l.get(mu).iter(mu).next().unwrap().1;
    mu.safepoint();
    p.len()
}
