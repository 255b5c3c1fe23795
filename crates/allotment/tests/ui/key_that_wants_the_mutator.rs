// E0053
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::hash::{Hash, Hasher};

impl Key for Node {
    fn hash<'g, H: Hasher>(key: Gc<'g, Node>, _: &'g Mutator, state: &mut H) {
        key.key.hash(state);
    }
    fn equal<'g>(one: Gc<'g, Node>, other: Gc<'g, Node>, mu: &'g mut Mutator) -> bool {
        mu.collect();
        one.key == other.key
    }
}
