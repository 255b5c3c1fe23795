// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, l: Local<'_, Node>) -> u64 {
    let p = l.get(mu);
    mu.safepoint();
    p.key
}
