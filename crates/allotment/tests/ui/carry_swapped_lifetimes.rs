// carry (the second lifetime is a span in disguise)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct Evil<'a, 'g> {
    a: Gc<'g, Node>,
    b: Gc<'a, Node>,
}
