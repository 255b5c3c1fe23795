// E0080 (slots where the object has none)
// says: not laid out as its shape says
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct P<T: Word> {
    a: u8,
    slot: Field<T>,
    b: u8,
}
allotment::__object! {
    docs []
    object struct P
    params [T]
    predicates [{ type [] T: is Word, }]
    new NewP
    span '__al at '__al_at ['__al]
    downcast []
    layout stand_in [C]
    fields [{ [] [] a plain u8, "" } { [] [] slot slot Strong Field<T>, } { [] [] b plain u8, "" }]
}
fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    heap.attach(|mu| alloc!(mu, NewP::<Option<Node>> { a: 1, slot: None, b: 2 }).unwrap().a).unwrap();
}
