// E0803 (its assumption is checked at its use)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct View<'g> {
    node: &'g Node,
}
allotment::__carry! {
    carry View
    span 'g at '__al_at
    lifetimes []
    params []
    predicates [{ type ['x] &'g Node: is Carry<At<'x> = &'x Node>, }]
    fields [{ node [&'g Node] }]
}
fn f(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 1 }).unwrap();
    let mut view = View { node: node.as_ref() };
    keep!(mu, [view] => mu.collect());
    view.node.key
}
