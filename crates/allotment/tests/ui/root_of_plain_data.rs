// E0277
// says: is not a bare value of the heap
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator) {
    root!(mu, n = 5);
}
