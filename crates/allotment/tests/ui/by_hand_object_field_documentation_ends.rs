// macro (an untraced field behind the documentation)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Leaf {
    next: Field<Option<Node>>,
}
allotment::__object! {
    docs []
    object struct Leaf
    params []
    predicates []
    new NewLeaf
    span '__al at '__al_at ['__al]
    downcast [Leaf]
    layout own []
    fields [{ [] [""] stale: Gc<'__al, Node>, next slot Strong Field<Option<Node>>, }]
}
