// E0277
// says: cannot be carried over a safepoint
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct Evil<'g> {
    a: std::cell::Cell<Gc<'g, Node>>,
}
