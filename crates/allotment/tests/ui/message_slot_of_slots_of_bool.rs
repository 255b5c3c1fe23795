// E0277
// says once: is not a number that `Slots` and `Plain` hold
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
    slot: Field<Slots<bool>>,
    last: Field<Option<Node>>,
}
