// compiles: `new = Name`
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
#[object(new = Make)]
pub struct Point {
    x: f64,
}
fn f(mu: &mut Mutator) -> f64 {
    alloc!(mu, Make { x: 1.0 }).unwrap().x
}
