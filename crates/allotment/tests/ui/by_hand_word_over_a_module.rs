// compiles: constants for variants decode to what they encode
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Two {
    A,
    B,
}
mod names {
    pub use super::Two::B;
    pub const C: super::Two = super::Two::A;
}
allotment::__word! {
    docs []
    word pub enum Value
    bare names at 'g [Two]
    units [{ C 0 } { B 1 }]
    immediates []
    pointers 0 []
}
