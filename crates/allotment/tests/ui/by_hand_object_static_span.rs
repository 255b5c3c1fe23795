// lifetime (an initialiser whose slots are of every span)
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
    span 'static at '__al_at []
    downcast [Leaf]
    layout own []
    fields [{ [] [] next slot Strong Field<Option<Node>>, }]
}
