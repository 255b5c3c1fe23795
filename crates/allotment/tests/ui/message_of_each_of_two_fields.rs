// E0277
// says: `Cell<u8>` cannot be a plain field of an object
// says: `u64` is not an object of the heap
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
struct Bad {
    cell: std::cell::Cell<u8>,
    slot: Field<u64>,
}
