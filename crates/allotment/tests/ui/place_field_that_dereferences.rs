// E0277 (the field is a `&mut Mutator`, or nothing)
// says: is not a reference to a mutator
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Vm<'m, 't> {
    mu: Box<&'m mut Mutator<'t>>,
}
fn f(vm: &mut Vm<'_, '_>) -> u64 {
    alloc!(vm.mu, NewNode { next: None, key: 1 }).unwrap().key
}
