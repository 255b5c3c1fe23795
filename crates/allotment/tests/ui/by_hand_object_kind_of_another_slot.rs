// E0080 (a strong slot that would be cleared)
// says: not laid out as its shape says
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Leaf {
    a: u64,
    next: Field<Option<Node>>,
}
allotment::__object! {
    docs []
    object struct Leaf
    params []
    predicates []
    new NewLeaf
    span '__al at '__al_at ['__al]
    downcast [Leaf]
    layout own []
    fields [{ [] [] a plain u64, "" } { [] [] next slot Weak Field<Option<Node>>, }]
}
fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    heap.attach(|mu| alloc!(mu, NewLeaf { a: 1, next: None }).unwrap().a).unwrap();
}
