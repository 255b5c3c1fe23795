// lifetime (a static span)
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
    predicates [{ lifetime 'g: outlives 'static }]
    fields [{ node [&'g Node] }]
}
