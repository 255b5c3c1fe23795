// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, stack: Stack<'_, Node>) -> u64 {
    let mut sum = 0;
    for p in stack.iter(mu) {
        mu.safepoint();
        sum += p.key;
    }
    sum
}
