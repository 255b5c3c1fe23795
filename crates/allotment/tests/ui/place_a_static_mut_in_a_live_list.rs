// E0133 (a name of a list is not read inside `unsafe`)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

static mut LIVE: u64 = 0;
fn f(mu: &mut Mutator) -> u64 {
    alloc!(mu, [LIVE] => NewNode { next: None, key: 1 }).unwrap().key
}
