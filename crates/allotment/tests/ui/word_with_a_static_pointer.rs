// lifetime (decode would make a static pointer)
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
    Evil(Gc<'static, Node>),
    Node(Gc<'g, Node>),
}
