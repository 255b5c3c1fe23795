// E0080
// says once: field `items`: an object of the heap is never dropped: an array of references is
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
    items: Vec<u64>,
    last: Field<Option<Node>>,
}
