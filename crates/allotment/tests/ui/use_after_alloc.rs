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

fn f(mu: &mut Mutator) -> Result<u64, OutOfMemory> {
    let a = alloc!(mu, new(None))?;
    let b = alloc!(mu, new(None))?;
    Ok(a.key + b.key)
}
