// macro
// says: a word is an enum
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, Word)]
#[word(Value)]
pub struct Val<'g> {
    node: Gc<'g, Node>,
}
