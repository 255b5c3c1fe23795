// E0428 (an initialiser of the user beside the generated one)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct P {
    c: u64,
}
struct NewP {
    c: u64,
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
