// macro
// says: are known
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
#[object(align = 16)]
pub struct Point {
    x: f64,
}
