// carry (the span is said to be another lifetime)
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
    span 'a at '__al_at
    lifetimes ['g]
    params []
    predicates []
    fields [{ text [&'a str] } { node [Gc<'g, Node>] }]
}
