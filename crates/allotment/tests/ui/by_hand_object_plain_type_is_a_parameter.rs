// E0401 (a parameter where the derive has a type of that name)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::cell::Cell;
#[allow(non_camel_case_types)]
struct T;
struct P<T> {
    c: T,
}
allotment::__object! {
    docs []
    object struct P
    params [T]
    predicates [{ type [] T: outlives 'static }]
    new NewP
    span '__al at '__al_at []
    downcast []
    layout stand_in []
    fields [{ [] [] c plain T, "" }]
}
