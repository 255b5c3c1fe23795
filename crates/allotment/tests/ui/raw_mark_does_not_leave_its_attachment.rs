// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap) {
    let mark = heap.attach(|mu| mu.raw_mut().mark()).unwrap();
}
