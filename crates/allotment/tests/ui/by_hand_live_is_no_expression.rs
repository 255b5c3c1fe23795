// macro
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    allotment::__alloc!([mu] [{ mu.collect(); 0 }] NewNode { next: None, key: 1 }).unwrap().key
}
