// E0117 (an object of the library)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

allotment::__object! {
    docs []
    object struct Bytes
    params []
    predicates []
    new NewText
    span '__al at '__al_at []
    downcast [Bytes]
    layout own []
    fields []
}
