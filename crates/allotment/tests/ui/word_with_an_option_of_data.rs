// E0277
// says: is not a pointer that a word can hold
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
    Evil(Option<u8>),
    Node(Gc<'g, Node>),
}
