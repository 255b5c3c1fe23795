// E0277
// says: cannot be carried over a safepoint
// says: derive(Carry)
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

struct Mine<'g>(Gc<'g, Node>);
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let mut mine = Mine(a.get(mu));
    let p = alloc!(mu, [mine] => new(None))?;
    Ok(mine.0.key + p.key)
}
