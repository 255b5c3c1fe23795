// carry (the macro behind the derive, with another type for other spans)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'g> {
    node: Gc<'g, Node>,
}
allotment::__carry! {
    carry State [State<'g>]
    generics ['g,]
    at '__al_at [State<'static>]
    bounds []
    fields [{ node [Gc<'g, Node>] }]
}

fn f<'g>(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
    let mut state = State { node };
    let kept = rebind!(mu, state).node;
    mu.safepoint();
    kept.key
}
