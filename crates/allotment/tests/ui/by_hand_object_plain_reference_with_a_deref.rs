// E0308 (a reference that is coerced by code of the user)
#![forbid(unsafe_code)]
use allotment::*;
use std::ops::Deref;

pub struct A(u8);
pub struct B(A);
impl Deref for B {
    type Target = A;
    fn deref(&self) -> &A {
        &self.0
    }
}
struct P {
    c: &'static A,
}
allotment::__object! {
    docs []
    object struct P
    params []
    predicates []
    new NewP
    span '__al at '__al_at []
    downcast [P]
    layout own []
    fields [{ [] [] c plain &'static B, "" }]
}
