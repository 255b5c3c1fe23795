// E0277 (a slot that would not be traced)
// says: cannot be a plain field of an object
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
    span '__al at '__al_at []
    downcast [Leaf]
    layout own []
    fields [{ [] [] next plain Field<Option<Node>>, "" }]
}
