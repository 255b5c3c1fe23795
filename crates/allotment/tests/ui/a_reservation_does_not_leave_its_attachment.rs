// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap) {
    let room = heap.attach(|mu| mu.make_room(64).unwrap()).unwrap();
}
