// E0277 (a slot that is none)
// says: is not a slot of this library
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Leaf {
    next: u64,
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
    fields [{ [] [] next slot Strong u64, }]
}
