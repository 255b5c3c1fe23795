// macro
// says: a struct can be carried
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
enum Evil<'g> {
    A(Gc<'g, Node>),
}
