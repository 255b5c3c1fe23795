// E0277
// says once: cannot be a plain field of an object
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
struct Bad {
    first: u64,
    cell: std::cell::Cell<u64>,
    last: Field<Option<Node>>,
}
