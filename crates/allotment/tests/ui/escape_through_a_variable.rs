// E0521
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap, root: &Root<Node>) {
    let mut out = None;
    heap.attach(|mu| {
        out = Some(root.get(mu));
    })
    .unwrap();
}
