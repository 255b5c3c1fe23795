// E0117 (an enum of another crate)
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
    bare Result at 'g [Result<Gc<'g, Node>, i32>]
    units []
    immediates [{ Err 0 }]
    pointers 1 [{ Ok 0 }]
}
