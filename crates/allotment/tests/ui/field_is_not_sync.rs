// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn sync<T: Sync>() {}
fn f() {
    sync::<Field<Node>>()
}
