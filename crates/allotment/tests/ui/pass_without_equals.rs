// E0308
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    mu.collect();
    0
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p = a.get(mu);
    pass!(g(mu, p))
}
