// E0277
// says: `u64` is not an object of the heap
// says: plain data needs no `Field`
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad {
    next: Field<u64>,
}
