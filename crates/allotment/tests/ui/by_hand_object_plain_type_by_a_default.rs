// E0308 (a parameter that the derive does not see)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct P<T = std::cell::Cell<u8>> {
    c: T,
}
allotment::__object! {
    docs []
    object struct P
    params []
    predicates []
    new NewP
    span '__al at '__al_at []
    downcast [P]
    layout own []
    fields [{ [] [] c plain u8, "" }]
}
