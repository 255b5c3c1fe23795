// macro
// says: all instances of a generic object have one layout
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad<const N: usize> {
    name: [u8; N],
}
