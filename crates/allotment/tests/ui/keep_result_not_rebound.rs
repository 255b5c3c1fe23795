// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

fn make<'m>(mu: &'m mut Mutator) -> Result<Gc<'m, Node>, OutOfMemory> {
    alloc!(mu, new(None))
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let mut p = a.get(mu);
    let q = keep!(mu, [p] => make(mu)?);
    Ok(p.key + q.key)
}
