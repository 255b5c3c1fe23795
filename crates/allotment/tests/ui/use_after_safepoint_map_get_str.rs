// E0502
#![forbid(unsafe_code)]
use allotment::*;

fn f(mu: &mut Mutator, l: Local<'_, Map<Str, Str>>) -> usize {
    let p = l.get(mu).get_str(mu, "k").unwrap();
    mu.safepoint();
    p.len()
}
