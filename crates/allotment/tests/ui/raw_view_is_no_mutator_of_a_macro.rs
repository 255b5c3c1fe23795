// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, mut p: Gc<'_, Node>) -> u64 {
    let view = mu.raw_mut();
    keep!(view, [p] => view.collect());
    p.key
}
