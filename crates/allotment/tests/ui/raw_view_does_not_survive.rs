// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let view = mu.raw();
    mu.safepoint();
    a.get(view).key
}
