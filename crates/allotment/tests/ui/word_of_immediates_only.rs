// compiles: no lifetime needed
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy, PartialEq, Debug, Word)]
#[word(Color)]
pub enum Paint {
    Red,
    Grey(u8),
}
#[derive(Object)]
pub struct Dot {
    color: Field<Color>,
}
fn f(mu: &mut Mutator) -> Paint {
    let dot = alloc!(mu, NewDot { color: Paint::Grey(7) }).unwrap();
    dot.color.load(mu)
}
