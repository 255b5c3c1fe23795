// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, p: Local<'_, Node>) -> u64 {
    let stale: Gc<'static, Node> = rt::erase(p.get(mu));
    mu.collect();
    stale.key
}
