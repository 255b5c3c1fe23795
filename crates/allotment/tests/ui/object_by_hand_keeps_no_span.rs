// lifetime (the macro behind the derive, with another type for other spans)
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
    at '__al_at [NewLeaf<'static>]
    bounds []
    layout __AlSelf
    slots [{ [] [] next [Field<Option<Node>>] [Field<Option<Node>>] }]
    plain []
    downcast [yes]
}
