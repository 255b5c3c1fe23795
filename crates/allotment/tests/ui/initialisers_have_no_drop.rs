// E0119
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

impl Drop for NewNode<'_> {
    fn drop(&mut self) {}
}
