// compiles: an initialiser without a lifetime, and an empty object
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Point {
    x: f64,
}
#[derive(Object)]
pub struct Unit {}
#[derive(Object)]
pub struct Nothing;
fn f(mu: &mut Mutator) -> f64 {
    let new: NewPoint = NewPoint { x: 1.0 };
    mu.safepoint();
    let _ = alloc!(mu, NewUnit {});
    let _ = alloc!(mu, NewNothing {});
    alloc!(mu, new).unwrap().x
}
