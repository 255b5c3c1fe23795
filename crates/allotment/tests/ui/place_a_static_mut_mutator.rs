// E0277 (the mutator is not borrowed inside `unsafe`)
// says: is not a reference to a mutator
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

static mut MU: Option<&'static mut Mutator<'static>> = None;
fn f() -> u64 {
    rebind!(MU, 0_u64)
}
