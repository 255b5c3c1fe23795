// E0308 (the instances of a generic type share a shape)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Cell<W: Word> {
    next: Field<W>,
}
type CellOfNode = Cell<Node>;
allotment::__object! {
    docs []
    object struct Cell
    params [W]
    predicates [{ type [] W: is Word, }]
    new NewCell
    span '__al at '__al_at ['__al]
    downcast [CellOfNode]
    layout stand_in []
    fields [{ [] [] next slot Strong Field<W>, }]
}
