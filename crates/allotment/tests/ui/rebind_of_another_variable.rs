// E0277 (the last group that can be meant is no call with the mutator)
// says: is not a reference to a mutator
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn make<'m>(mu: &'m mut Mutator) -> Result<Gc<'m, Node>, OutOfMemory> {
    alloc!(mu, NewNode { next: None, key: 1 })
}
fn maybe<'m>(mu: &'m mut Mutator, fallback: Local<'_, Node>) -> Option<Gc<'m, Node>> {
    mu.safepoint();
    Some(fallback.get(mu))
}
struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
    key: u64,
}
impl Vm<'_, '_> {
    fn make(&mut self) -> Result<Gc<'_, Node>, OutOfMemory> {
        make(self.mu)
    }
}
trait Then: Sized {
    fn then(self, other: u64) -> Self {
        self
    }
}
impl Then for Gc<'_, Node> {}
fn f(mu: &mut Mutator, x: u64) -> u64 {
    rebind!(make(mu).unwrap().then(x)).key
}
