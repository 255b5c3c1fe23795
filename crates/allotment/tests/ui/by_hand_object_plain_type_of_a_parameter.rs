// E0401 (a type that a trait finds for the parameter)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

trait Has: 'static {
    type Type;
}
struct P<T: Has> {
    c: <T as Has>::Type,
}
allotment::__object! {
    docs []
    object struct P
    params [T]
    predicates [{ type [] T: is Has, }]
    new NewP
    span '__al at '__al_at []
    downcast []
    layout stand_in []
    fields [{ [] [] c plain <T as Has>::Type, "" }]
}
