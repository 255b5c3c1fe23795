// E0433 (a shape for a type that shares one)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
struct Cell<W: Word> {
    next: Field<W>,
}
const SHAPE: raw::Shape = raw::Shape::constant("Cell", 16, &[], None);
allotment::__object_downcast!([yes] Cell<Node>, SHAPE);
