// macro (`0.0` is one token)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'g>((Gc<'g, Node>, u8));
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ 0.0 [Gc<'g, Node>] }]
}
