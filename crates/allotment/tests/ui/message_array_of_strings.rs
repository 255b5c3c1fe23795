// E0080
// says once: field `texts`: an object of the heap is never dropped
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
    texts: [String; 2],
    last: Field<Option<Node>>,
}
