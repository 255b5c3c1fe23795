// E0502
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

fn f(mu: &mut Mutator) -> u64 {
    let mut room = mu.make_room(64).unwrap();
    let Ok(p) = mu.try_alloc_in(&mut room, new(None)) else { return 0 };
    mu.safepoint();
    p.key
}
