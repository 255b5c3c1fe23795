// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &Mutator, p: Gc<'_, Node>) {
    let mut frame = rt::Frame::save(p);
    let _linked = rt::Frame::link(&raw mut frame, mu);
}
