// compiles: the initialiser is rebound
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

fn init<'m>(mu: &'m mut Mutator) -> NewNode<'m> {
    mu.collect();
    new(None)
}
fn f(mu: &mut Mutator) -> u64 {
    alloc!(mu, init(mu)).unwrap().key
}
