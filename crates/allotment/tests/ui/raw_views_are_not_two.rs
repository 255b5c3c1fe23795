// E0499
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator) {
    let one = mu.raw_mut();
    let other = mu.raw_mut();
    one.collect();
    other.collect();
}
