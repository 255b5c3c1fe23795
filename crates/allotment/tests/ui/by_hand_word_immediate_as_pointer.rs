// E0277
// says: is not a pointer that a word can hold
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy)]
pub enum Val<'g> {
    Node(Gc<'g, Node>),
    Text(Gc<'g, Str>),
    Int(i32),
    Nil,
}
allotment::__word! {
    docs []
    word pub enum Value
    bare Val at 'g [Val<'g>]
    units [{ Nil 0 }]
    immediates []
    pointers 3 [{ Node 0 } { Text 1 } { Int 2 }]
}
