// macro
// says: no lifetime of a span
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct Evil {
    a: u64,
}
