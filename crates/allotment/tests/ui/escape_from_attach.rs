// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap, root: &Root<Node>) -> u64 {
    let p = heap.attach(|mu| root.get(mu)).unwrap();
    p.key
}
