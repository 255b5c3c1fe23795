// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>, k: Local<'_, Str>) -> usize {
    let p = l.get(mu).get(mu, k.get(mu)).unwrap();
    mu.safepoint();
    p.len()
}
