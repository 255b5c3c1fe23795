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

fn f(mu: &Mutator, p: Gc<'_, Node>) -> u64 {
    let cell = rt::RootCell::new(p);
    rt::RootCell::local(&cell).get(mu).key
}
