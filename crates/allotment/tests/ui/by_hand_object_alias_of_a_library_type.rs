// E0117
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

type Mine = List<Node>;
allotment::__object! {
    docs []
    object struct Mine
    params []
    predicates []
    new NewMine
    span '__al at '__al_at []
    downcast []
    layout own []
    fields []
}
