// macro
// says: name the word that slots hold
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, Word)]
pub enum Val<'g> {
    Node(Gc<'g, Node>),
}
