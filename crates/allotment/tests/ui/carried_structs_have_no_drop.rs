// E0119
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct Both<'g> {
    a: Gc<'g, Node>,
    b: u64,
}
impl Drop for Both<'_> {
    fn drop(&mut self) {}
}
