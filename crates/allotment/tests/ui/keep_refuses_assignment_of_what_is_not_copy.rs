// E0308
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

fn f(mu: &mut Mutator) -> Result<usize, OutOfMemory> {
    let mut all = vec![alloc!(mu, new(None))?];
    keep!(mu, [all] => {
        all = Vec::new();
    });
    Ok(all.len())
}
