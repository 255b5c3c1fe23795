// carry (a static pointer)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'g> {
    node: Gc<'static, Node>,
    other: Gc<'g, Node>,
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ node [Gc<'static, Node>] } { other [Gc<'g, Node>] }]
}
