// E0277
// says once: is not a word that a slot can hold
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
    slot: Field<Maybe<u8>>,
    last: Field<Option<Node>>,
}
