// carry (the derive does not see the span in it)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

macro_rules! sly {
    () => { &'g Node };
}
#[derive(Carry)]
struct State<'g> {
    node: sly!(),
    list: Gc<'g, Node>,
}

fn f<'g>(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
    let mut state = State { node: node.as_ref(), list: node };
    keep!(mu, [state] => mu.safepoint());
    state.node.key
}
