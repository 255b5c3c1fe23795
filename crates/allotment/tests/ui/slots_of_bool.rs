// E0277
// says: is not a number that `Slots` and `Plain` hold
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Bad {
    flags: Field<Slots<bool>>,
}
fn f(flags: Gc<'_, Slots<bool>>) -> usize {
    flags.len()
}
