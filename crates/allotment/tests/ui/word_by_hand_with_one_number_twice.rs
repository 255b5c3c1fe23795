// E0080 (the macro behind the derive: a text would be taken for a node)
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
}
allotment::__word! {
    docs []
    word [pub] Value
    bare Val at 'g [Val<'g>]
    units []
    immediates []
    pointers 2 [{ Node 1 } { Text 1 }]
}
