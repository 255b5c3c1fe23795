// E0502 (rustc advises the lifetime; the callee compiles, no call of it does)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g<'m>(mu: &'m mut Mutator, a: Gc<'m, Node>) -> Gc<'m, Node> {
    a
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p = a.get(mu);
    g(mu, p).key
}
