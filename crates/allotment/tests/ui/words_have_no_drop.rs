// E0184
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, Word)]
#[word(Value)]
enum Val<'g> {
    Nil,
    Node(Gc<'g, Node>),
}
impl Drop for Val<'_> {
    fn drop(&mut self) {}
}
