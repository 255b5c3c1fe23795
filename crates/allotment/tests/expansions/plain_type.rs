//! A plain type that is a reference to another where the initialiser is written.
#![forbid(unsafe_code)]
use allotment::*;
use std::ops::Deref;

pub struct A(u8);
pub struct B(u8);
static SA: A = A(1);
static SB: B = B(2);
impl Deref for B {
    type Target = A;
    fn deref(&self) -> &A {
        panic!("code of a user runs while an object is written")
    }
}
impl Deref for A {
    type Target = B;
    fn deref(&self) -> &B {
        panic!("code of a user runs while an object is written")
    }
}

struct S {
    p: &'static B,
}
allotment::__object! {
    docs []
    object struct S
    params []
    predicates []
    new NewS
    span '__al at '__al_at []
    downcast [S]
    layout own []
    fields [{ [] [] p plain pick::pick!(&'static B ; &'static A), "" }]
}

fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    heap.attach(|mu| {
        root!(mu, s = alloc!(mu, NewS { p: &SB }).unwrap());
        assert_eq!((s.get(mu).p.0, SA.0), (2, 1));
    })
    .unwrap();
}
