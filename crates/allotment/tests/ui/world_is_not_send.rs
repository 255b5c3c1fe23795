// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(heap: &Heap) {
    let _ = heap.stop_the_world(|world| {
        std::thread::scope(|s| {
            s.spawn(|| world.threads());
        })
    });
}
