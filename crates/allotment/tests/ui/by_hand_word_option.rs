// E0117
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

allotment::__word! {
    docs []
    word pub enum Value
    bare Option at 'g [Option<Gc<'g, Node>>]
    units [{ None 0 }]
    immediates []
    pointers 1 [{ Some 0 }]
}
