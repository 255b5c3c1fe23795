// carry (the lifetimes in another order)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'a, 'g> {
    text: &'a str,
    node: Gc<'g, Node>,
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes ['a]
    params []
    predicates []
    fields [{ text [&'a str] } { node [Gc<'g, Node>] }]
}
