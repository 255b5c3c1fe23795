//! A slot that is weak where its kind is asked, and strong in the object.
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Sel<const B: bool>;
trait Pick {
    type T;
}
impl Pick for Sel<false> {
    type T = Field<Node>;
}
impl Pick for Sel<true> {
    type T = WeakField<Node>;
}

struct S {
    f: Field<Node>,
}
allotment::__object! {
    docs []
    object struct S
    params []
    predicates []
    new NewS
    span '__al at '__al_at ['__al]
    downcast [S]
    layout own []
    fields [{ [] [] f slot Weak <Sel<{ pick::pick!(false ; true) }> as Pick>::T, }]
}

fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).zeal_move(true).zeal_poison(true).build().unwrap();
    heap.attach(|mu| {
        let n = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
        root!(mu, s = alloc!(mu, NewS { f: n }).unwrap());
        mu.collect();
        mu.collect();
        assert_eq!(s.get(mu).f.load(mu).key, 7);
    })
    .unwrap();
}
