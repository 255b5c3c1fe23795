// macro (the macro behind the macro, with an expression for the mutator)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

macro_rules! with {
    ($mu:expr) => { allotment::__alloc!([$mu] [] NewNode { next: None, key: 1 }) };
}
fn f(mu: &mut Mutator) -> u64 {
    with!({ mu.collect(); &mut *mu }).unwrap().key
}
