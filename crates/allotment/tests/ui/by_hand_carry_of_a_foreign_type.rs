// E0117
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::str::Chars;
allotment::__carry! {
    carry Chars
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields []
}
