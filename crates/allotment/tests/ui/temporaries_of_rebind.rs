// E0716
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Collects<'m, 't>(&'m mut Mutator<'t>);
impl Drop for Collects<'_, '_> {
    fn drop(&mut self) {
        self.0.collect();
    }
}
impl Collects<'_, '_> {
    fn get(&self, local: Local<'_, Node>) -> Gc<'_, Node> {
        local.get(self.0)
    }
}
fn f(mu: &mut Mutator, good: Local<'_, Node>) -> u64 {
    rebind!(mu, Collects(&mut *mu).get(good)).key
}
