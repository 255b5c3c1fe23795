// E0080
// says once: field `root`: an object of the heap is never dropped: no field may have drop glue
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
    root: Root<Node>,
    last: Field<Option<Node>>,
}
