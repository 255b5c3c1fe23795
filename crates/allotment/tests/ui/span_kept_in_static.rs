// E0521
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

fn f(mu: &Mutator, a: Local<'_, Node>) {
    thread_local!(static STASH: std::cell::Cell<Option<Gc<'static, Node>>> = const { std::cell::Cell::new(None) });
    STASH.set(Some(a.get(mu)));
}
