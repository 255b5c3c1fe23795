// macro (the macro behind the derive: a field of the initialiser that nobody traces)
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
    object [] Leaf [Leaf]
    generics []
    new NewLeaf [NewLeaf<'__al>]
    new_generics ['__al,]
    span '__al
    at '__al_at [NewLeaf<'__al_at>]
    bounds []
    layout __AlSelf
    slots [{ [stale: Gc<'__al, Node>,] [] next [Field<Option<Node>>] [Field<Option<Node>>] }]
    plain []
    downcast [yes]
}
