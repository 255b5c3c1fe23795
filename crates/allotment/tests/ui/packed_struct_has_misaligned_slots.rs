// E0080
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
#[repr(packed)]
pub struct Small {
    byte: u8,
    next: Field<Option<Node>>,
}
