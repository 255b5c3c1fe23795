// compiles: the macro behind the derive, as the derive calls it
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Leaf {
    next: Field<Option<Node>>,
}
allotment::__object! {
    docs []
    object struct Leaf
    params []
    predicates []
    new NewLeaf
    span '__al at '__al_at ['__al]
    downcast [Leaf]
    layout own []
    fields [{ [] [] next slot Strong Field<Option<Node>>, }]
}
pub struct Flat {
    a: u64,
    b: &'static str,
}
allotment::__object! {
    docs []
    object pub struct Flat
    params []
    predicates []
    new NewFlat
    span '__al at '__al_at []
    downcast [Flat]
    layout own []
    fields [{ [] ["Text."] a plain u64, "" } { [] [] pub b plain &'static str, "" }]
}
struct Pair<K: Word, V> {
    hash: u32,
    key: Field<K>,
    value: Field<V>,
}
allotment::__object! {
    docs []
    object struct Pair
    params [K V]
    predicates [{ type [] K: is Word, } { type [] V: is Word, } { type [] V: outlives 'static }]
    new NewPair
    span '__al at '__al_at ['__al]
    downcast []
    layout stand_in []
    fields [{ [] [] hash plain u32, "" } { [] [] key slot Strong Field<K>, } { [] [] value slot Strong Field<V>, }]
}
