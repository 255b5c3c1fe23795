//! Two enums: each is the bare value of one word, and is carried as the other.
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy)]
pub enum A<'g> {
    Node(Gc<'g, Node>),
    Int(i32),
}
#[derive(Clone, Copy)]
pub enum B<'g> {
    Int(i32),
    Node(Gc<'g, Node>),
}
allotment::__word! {
    docs []
    word pub enum WordA
    bare A at 'g [pick::pick!(A<'g> ; B<'g>)]
    units []
    immediates [{ Int 1 }]
    pointers 1 [{ Node 0 }]
}
allotment::__word! {
    docs []
    word pub enum WordB
    bare B at 'g [pick::pick!(B<'g> ; A<'g>)]
    units []
    immediates [{ Int 1 }]
    pointers 1 [{ Node 0 }]
}

fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).zeal_move(true).zeal_poison(true).build().unwrap();
    heap.attach(|mu| {
        let n = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
        let mut s = A::Node(n);
        keep!(mu, [s] => { mu.collect(); });
        assert!(matches!(s, A::Node(n) if n.key == 7));
    })
    .unwrap();
}
