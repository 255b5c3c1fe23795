// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g<'m>(mu: &'m mut Mutator, a: Local<'_, Node>) -> Gc<'m, Node> {
    a.get(mu)
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p = a.get(mu);
    let q = pass!(g(mu, =p));
    mu.safepoint();
    q.key
}
