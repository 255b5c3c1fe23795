// E0574 (a variant is no object)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

enum Many {
    One { next: Field<Option<Node>> },
    Other { cell: std::cell::Cell<u64> },
}
allotment::__object! {
    docs []
    object struct Many
    params []
    predicates []
    new NewLeaf
    span '__al at '__al_at ['__al]
    downcast [Many]
    layout own []
    fields [{ [] [] next slot Strong Field<Option<Node>>, }]
}
