// E0133 (a field of a union)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

union Holder<'m, 't> {
    mu: std::mem::ManuallyDrop<&'m mut Mutator<'t>>,
    other: &'m mut Mutator<'t>,
}
fn f(holder: &mut Holder<'_, '_>) -> u64 {
    alloc!(holder.other, NewNode { next: None, key: 1 }).unwrap().key
}
