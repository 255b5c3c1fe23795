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

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let init = new(Some(a.get(mu)));
    mu.collect();
    Ok(alloc!(mu, init)?.key)
}
