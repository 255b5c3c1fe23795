// E0496
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
    span 'g at 'g
    lifetimes []
    params []
    predicates []
    fields [{ node [&'g Node] }]
}
