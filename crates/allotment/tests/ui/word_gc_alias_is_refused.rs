// E0277
// says: does not fit in a word
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

type Alias<'g> = Gc<'g, Node>;
#[derive(Clone, Copy, Word)]
#[word(Value)]
pub enum Val<'g> {
    Node(Alias<'g>),
}
