// macro (the parameters end, and an `impl` of the user begins with the `unsafe` of the macro)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Evil;
struct Leaf {
    next: Field<Option<Node>>,
}
allotment::__object! {
    docs []
    object struct Leaf
    params [> allotment::rt::Exact for Evil {} unsafe impl<]
    predicates []
    new NewLeaf
    span '__al at '__al_at ['__al]
    downcast [Leaf]
    layout own []
    fields [{ [] [] next slot Strong Field<Option<Node>>, }]
}
