// compiles: 16 names
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

fn f(mu: &mut Mutator, l: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let p = l.get(mu);
    let (mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h) = (p, p, p, p, p, p, p, p);
    let (mut i, mut j, mut k, mut l, mut m, mut n, mut o, mut q) = (p, p, p, p, p, p, p, p);
    let r = alloc!(mu, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q] => new(Some(p)))?;
    let x = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, q];
    Ok(x.iter().map(|p| p.key).sum::<u64>() + r.key)
}
