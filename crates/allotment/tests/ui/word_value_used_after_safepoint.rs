// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, Word)]
#[word(Value)]
pub enum Val<'g> {
    Nil,
    Node(Gc<'g, Node>),
}
fn f(mu: &mut Mutator, v: Local<'_, Value>) -> u64 {
    let v = v.get(mu);
    mu.collect();
    match v {
        Val::Node(node) => node.key,
        Val::Nil => 0,
    }
}
