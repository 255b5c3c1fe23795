// macro (an expression for the mutator)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let mut p = a.get(mu);
    allotment::__keep!([{ mu.collect(); mu }] [p] ());
    p.key
}
