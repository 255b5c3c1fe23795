// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, List<Str>>) -> usize {
    let p = l.get(mu).last(mu).unwrap();
    mu.safepoint();
    p.len()
}
