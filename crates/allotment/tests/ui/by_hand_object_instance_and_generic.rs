// E0119 (one instance has a shape of its own)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct P<T = Node> {
    a: Field<T>,
}
allotment::__object! {
    docs []
    object struct P
    params []
    predicates []
    new NewP
    span '__al at '__al_at ['__al]
    downcast [P]
    layout own []
    fields [{ [] [] a slot Strong Field<Node>, }]
}
allotment::__object! {
    docs []
    object struct P
    params [T]
    predicates [{ type [] T: is Word, }]
    new NewGenericP
    span '__al at '__al_at ['__al]
    downcast []
    layout stand_in []
    fields [{ [] [] a slot Strong Field<T>, }]
}
