// E0308
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

fn f(mu: &mut Mutator, text: Local<'_, Str>) {
    let _ = alloc!(mu, NewArray::<Node>::new(1, text.get(mu)));
}
