// macro (an index is a method)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(all: &mut [&mut Mutator<'_>]) -> u64 {
    alloc!(all[0], NewNode { next: None, key: 1 }).unwrap().key
}
