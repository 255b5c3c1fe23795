// E0261 (a predicate about the other span)
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
    predicates [{ lifetime '__al_at: outlives 'g } { lifetime 'g: outlives '__al_at }]
    fields [{ node [&'g Node] }]
}
