// E0133
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

fn f(mu: &Mutator, p: Gc<'_, Node>) {
    let cell = rt::RootCell::new(p);
    let _linked = rt::RootCell::link(&cell, mu);
}
