// E0515
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

fn f<'r>(mu: &'r mut Mutator) -> Local<'r, Node> {
    let p = alloc!(mu, new(None)).unwrap();
    root!(mu, a = p);
    a
}
