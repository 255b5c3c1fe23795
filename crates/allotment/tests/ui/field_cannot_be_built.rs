// E0451
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

fn f() -> Field<Node> {
    Field { bits: std::sync::atomic::AtomicU64::new(8), word: std::marker::PhantomData, thread: std::marker::PhantomData }
}
