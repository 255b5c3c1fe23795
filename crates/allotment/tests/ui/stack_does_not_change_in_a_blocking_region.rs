// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, mut stack: Stack<'_, Node>) {
    mu.blocking(|| stack.truncate(mu, 0));
}
