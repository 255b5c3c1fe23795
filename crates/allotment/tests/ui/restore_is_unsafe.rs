// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f<'g>(mu: &'g Mutator, p: Gc<'static, Node>) -> Gc<'g, Node> {
    rt::restore(p, mu)
}
