// E0277 (a cell that threads would share)
// says: cannot be a plain field of an object
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::cell::Cell;
struct P {
    c: Cell<&'static str>,
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
    fields [{ [] [] c plain Cell<&'static str>, "" }]
}
