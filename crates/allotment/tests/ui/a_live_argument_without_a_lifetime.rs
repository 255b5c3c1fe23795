// E0621
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

fn g<'m>(mu: &'m mut Mutator, parent: Gc<'_, Node>) -> Result<Gc<'m, Node>, OutOfMemory> {
    let mut parent = parent;
    let _child = alloc!(mu, [parent] => new(None))?;
    Ok(rebind!(mu, parent))
}
fn f<'m>(mu: &'m Mutator, parent: Gc<'_, Node>) -> Gc<'m, Node> {
    parent
}
