// E0433 (the library is found by its extern name only)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod inner {
    use allotment::{Field, Gc};
    mod allotment {}
    #[derive(::allotment::Object)]
    #[object(crate = self::nowhere)]
    pub struct Pair {
        car: Field<Option<Pair>>,
    }
}
