// E0080
// says once: field `map`: an object of the heap is never dropped: a map of the heap is
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
    map: std::collections::HashMap<u64, u64>,
    last: Field<Option<Node>>,
}
