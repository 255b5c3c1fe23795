// macro (the macro behind the derive lends its `unsafe`)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Evil;
struct Leaf {
    next: Field<Option<Node>>,
}
allotment::__object! {
    docs []
    object [] Leaf [Leaf]
    generics [> allotment::rt::Exact for Evil {} unsafe impl<]
    new NewLeaf [NewLeaf<'__al>]
    new_generics ['__al,]
    span '__al
    at '__al_at [NewLeaf<'__al_at>]
    bounds []
    layout __AlSelf
    slots [{ [] [] next [Field<Option<Node>>] [Field<Option<Node>>] }]
    plain []
    downcast [yes]
}
