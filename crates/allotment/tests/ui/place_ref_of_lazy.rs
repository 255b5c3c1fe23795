// E0283 (a `&mut` to what is initialised when it is looked at)
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
fn f<'m, 't>(mut holder: &mut std::cell::LazyCell<Vm<'m, 't>>) -> u64 {
    alloc!(holder.mu, NewNode { next: None, key: 1 }).unwrap().key
}
