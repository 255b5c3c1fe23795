// E0080
// says: an object of the heap is aligned to 8 bytes
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Big {
    next: Field<Option<Node>>,
    big: u128,
}
