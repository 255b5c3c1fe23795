// E0308 (a type of the name that the macro has inside)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[allow(dead_code)]
type __AlLayout = u8;
struct P {
    c: std::cell::Cell<u8>,
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
    fields [{ [] [] c plain __AlLayout, "" }]
}
