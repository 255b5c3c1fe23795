// E0283 (an alias is what it stands for)
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
type Alias<'m, 't> = Box<Vm<'m, 't>>;
fn f(mut holder: &mut Alias<'_, '_>) -> u64 {
    alloc!(holder.mu, NewNode { next: None, key: 1 }).unwrap().key
}
