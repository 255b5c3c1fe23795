// E0599
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(p: Gc<'_, Node>) -> u64 {
    p.addr()
}
