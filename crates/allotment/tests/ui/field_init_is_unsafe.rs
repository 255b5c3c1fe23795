// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(a: Gc<'_, Node>) -> Field<Node> {
    Field::init(a)
}
