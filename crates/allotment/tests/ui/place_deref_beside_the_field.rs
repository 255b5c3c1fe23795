// E0283 (it has the field itself, and might as well)
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
struct Own<'m, 't> {
    mu: &'m mut Mutator<'t>,
    other: Box<u8>,
}
impl std::ops::Deref for Own<'_, '_> {
    type Target = u8;
    fn deref(&self) -> &u8 {
        &self.other
    }
}
fn f(mut holder: &mut Own<'_, '_>) -> u64 {
    alloc!(holder.mu, NewNode { next: None, key: 1 }).unwrap().key
}
