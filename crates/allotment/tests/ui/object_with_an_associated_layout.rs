// macro (a layout that depends on a parameter through a trait)
// says: a type parameter may be used inside
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad<T: Iterator + Send + Sync + 'static> {
    value: [T::Item; 1],
}
