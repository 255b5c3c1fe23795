// E0277
// says: cannot be a plain field of an object
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad {
    cell: std::cell::Cell<u32>,
}
