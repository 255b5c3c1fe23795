// E0283 (a `&mut` to a `Box`)
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
fn f(mut holder: &mut Box<Vm<'_, '_>>) -> u64 {
    alloc!(holder.mu, NewNode { next: None, key: 1 }).unwrap().key
}
