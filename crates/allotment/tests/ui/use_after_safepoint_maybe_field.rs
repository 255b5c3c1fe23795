// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Array<Maybe<Str>>>) -> usize {
    let p = l.get(mu).at(0).load(mu).0.unwrap();
    mu.safepoint();
    p.len()
}
