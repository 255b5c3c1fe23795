// compiles: the objects of whatever order are written
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
#[repr(C)]
struct P<T: Word> {
    a: u8,
    slot: Field<T>,
    b: u8,
}
#[derive(Object)]
struct Q<T: Word> {
    a: u8,
    b: [u8; 9],
    slot: Field<T>,
    c: u16,
    weak: WeakField<Q<T>>,
}
fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    heap.attach(|mu| {
        let p = alloc!(mu, NewP::<Option<Node>> { a: 1, slot: None, b: 2 }).unwrap().a;
        let q = alloc!(mu, NewQ::<Value> { a: 1, b: [0; 9], slot: Val::Int(3), c: 4, weak: None }).unwrap().a;
        p + q
    })
    .unwrap();
}
#[derive(Clone, Copy, Word)]
#[word(Value)]
enum Val {
    Int(i32),
}
