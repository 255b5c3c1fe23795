// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap) {
    let world = heap.stop_the_world(|world| world).unwrap();
}
