// compiles
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f<'m>(mu: &'m mut Mutator, a: Local<'_, Node>) -> Gc<'m, Node> {
    let p = a.get(mu);
    if p.key == 1 {
        ret!(mu, p);
    }
    mu.safepoint();
    a.get(mu)
}
