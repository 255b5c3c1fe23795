// E0283 (a `Deref` under a condition that holds here)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
}
struct Wrap<V, T>(V, T);
impl<V, T: Copy> std::ops::Deref for Wrap<V, T> {
    type Target = V;
    fn deref(&self) -> &V {
        &self.0
    }
}
impl<V, T: Copy> std::ops::DerefMut for Wrap<V, T> {
    fn deref_mut(&mut self) -> &mut V {
        &mut self.0
    }
}
fn f(mut holder: &mut Wrap<Vm<'_, '_>, u8>) -> u64 {
    alloc!(holder.mu, NewNode { next: None, key: 1 }).unwrap().key
}
