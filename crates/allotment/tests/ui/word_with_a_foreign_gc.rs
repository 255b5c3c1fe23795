// E0277
// says: is not a pointer that a word can hold
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod other {
    #[derive(Clone, Copy)]
    pub struct Gc<T>(pub T);
}
#[derive(Clone, Copy, Word)]
#[word(Value)]
pub enum Val<'g> {
    Evil(other::Gc<u64>),
    Node(Gc<'g, Node>),
}
