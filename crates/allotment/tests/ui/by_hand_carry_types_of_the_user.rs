// macro (another type for another span: a transmute)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct From2(u64, u64);
struct To(&'static str);
allotment::__carry! {
    carry From2 [From2]
    span 'g at '__al_at [To]
    lifetimes []
    params []
    predicates []
    fields [{ 0 [u64] } { 1 [u64] }]
}
