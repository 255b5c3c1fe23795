// E0716 (a temporary that collects as late as it can)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Late<'a, 't>(&'a mut Mutator<'t>);
impl Drop for Late<'_, '_> {
    fn drop(&mut self) {
        self.0.collect();
    }
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u8 {
    rebind!(mu, (&Late(&mut *mu), 5_u8)).1
}
