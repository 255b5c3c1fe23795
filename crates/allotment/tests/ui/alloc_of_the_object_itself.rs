// E0277
// says: is not an initialiser
// says: NewNode
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
fn f(mu: &mut Mutator) {
    let _ = alloc!(mu, Point { x: 0.0 });
}
