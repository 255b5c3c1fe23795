// E0107 (a struct without a span)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct From2(u64, u64);
allotment::__carry! {
    carry From2
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ 0 [u64] } { 1 [u64] }]
}
