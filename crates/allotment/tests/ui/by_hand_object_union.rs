// E0133 (a union hides fields: to look at one takes `unsafe`)
// says: access to union field
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

union Many {
    a: u64,
    b: std::mem::ManuallyDrop<Field<Option<Node>>>,
}
allotment::__object! {
    docs []
    object struct Many
    params []
    predicates []
    new NewMany
    span '__al at '__al_at []
    downcast [Many]
    layout own []
    fields [{ [] [] a plain u64, "" }]
}
fn f<'g>(many: Gc<'g, Many>, mu: &'g Mutator) -> bool {
    many.b.load(mu).is_some()
}
