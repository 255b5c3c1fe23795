// E0277
// says: is not a slot of this library
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
pub struct Bad {
    next: other::Field<u64>,
}
