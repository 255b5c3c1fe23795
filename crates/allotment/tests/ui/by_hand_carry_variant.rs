// E0574 (a variant is no struct)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

enum State<'g> {
    A { node: Gc<'g, Node> },
    B { other: Gc<'g, Node> },
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ node [Gc<'g, Node>] }]
}
