// E0277
// says once: is not a slot of this library
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod other {
    pub struct Field<T>(pub T);
}
#[derive(Object)]
struct Bad {
    first: u64,
    slot: other::Field<u64>,
    last: Field<Option<Node>>,
}
