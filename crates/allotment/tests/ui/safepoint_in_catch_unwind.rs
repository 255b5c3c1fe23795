// E0500
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::panic::{AssertUnwindSafe, catch_unwind};
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p = a.get(mu);
    let _ = catch_unwind(AssertUnwindSafe(|| mu.collect()));
    p.key
}
