// E0277
// says: `u8` is not an object of the heap
// says: Slots<u8>
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad {
    bytes: Field<Array<u8>>,
}
