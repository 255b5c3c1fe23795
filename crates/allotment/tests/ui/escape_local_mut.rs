// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, l: LocalMut<'_, Node>) -> Gc<'static, Node> {
    l.get(mu)
}
