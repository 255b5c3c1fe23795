// E0119
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy)]
pub enum Val {
    A,
    B,
}
allotment::__word! {
    docs []
    word pub enum Value
    bare Val at 'g [&'g Val]
    units [{ A 0 } { B 1 }]
    immediates []
    pointers 0 []
}
