// carry (the same lifetime, written in another way)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct State<'g> {
    node: &'r#g Node,
    list: Gc<'g, Node>,
}

fn f<'g>(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
    let mut state = State { node: node.as_ref(), list: node };
    keep!(mu, [state] => mu.safepoint());
    state.node.key
}
