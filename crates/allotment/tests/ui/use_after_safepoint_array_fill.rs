// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, a: Local<'_, Array<Str>>, v: Local<'_, Str>) -> usize {
    let p = a.get(mu);
    Array::fill(mu, a, 0..3, v);
    p.len()
}
