// compiles: methods of a trait of the user are not met
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

trait Hijack {
    fn try_alloc(&self, _: impl Sized) -> u64 {
        42
    }
    fn make_room(&mut self, _: usize) -> u64 {
        42
    }
    fn link(&self, _: impl Sized) {}
    fn local(&self) {}
    fn take(&self) {}
    fn trace(&self) {}
}
impl<T: ?Sized> Hijack for T {}
fn f(mu: &mut Mutator) -> u64 {
    let mut p = alloc!(mu, new(None)).unwrap();
    let q = alloc!(mu, [p] => new(Some(p))).unwrap();
    root!(mu, q = q);
    keep!(mu, [p] => mu.collect());
    p.key + Local::get(q, mu).key
}
