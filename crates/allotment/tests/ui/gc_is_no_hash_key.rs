// E0277
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

fn f(p: Gc<'_, Node>) {
    let mut set = std::collections::HashSet::new();
    set.insert(p);
}
