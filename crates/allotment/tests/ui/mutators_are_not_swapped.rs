// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(one: &Heap, other: &Heap) {
    let _ = one.attach(|a| other.attach(|b| std::mem::swap(a, b)));
}
