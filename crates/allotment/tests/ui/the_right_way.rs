// compiles: every failure below, repaired
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

fn f(mu: &mut Mutator) -> Result<u64, OutOfMemory> {
    let mut a = alloc!(mu, new(None))?;
    let b = alloc!(mu, [a] => new(Some(a)))?;
    root!(mu, b = b);
    keep!(mu, [a] => mu.collect());
    let key = a.key;
    let c = rebind!(mu, make(mu)?);
    let sum = key + c.key;
    let d = make(mu)?;
    let d = rebind!(mu, d);
    assert!(d.next.load(mu).is_none());
    mu.safepoint();
    Ok(b.get(mu).key + sum)
}
