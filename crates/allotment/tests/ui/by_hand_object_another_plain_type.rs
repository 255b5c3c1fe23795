// E0308 (the field is of another type than the one that is asked)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::cell::Cell;
struct P {
    c: Cell<u64>,
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
    fields [{ [] [] c plain u64, "" }]
}
