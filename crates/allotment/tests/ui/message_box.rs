// E0080
// says once: field `next`: an object of the heap is never dropped: a reference to another object is `Field<T>`
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
    next: Box<u64>,
    last: Field<Option<Node>>,
}
