// macro (tokens in the place of the visibility took the generated initialiser away)
// says: no rules expected
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
struct NewP {
    c: Cell<&'static str>,
}
allotment::__object! {
    docs []
    object #[cfg(any())] struct P
    params []
    predicates []
    new NewP
    span '__al at '__al_at []
    downcast [P]
    layout own []
    fields [{ [] [] c plain u64, "" }]
}
