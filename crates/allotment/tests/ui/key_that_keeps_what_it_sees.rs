// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::hash::{Hash, Hasher};

thread_local!(static SEEN: std::cell::Cell<Option<Gc<'static, Node>>> = const { std::cell::Cell::new(None) });
impl Key for Node {
    fn hash<'g, H: Hasher>(key: Gc<'g, Node>, _: &'g Mutator, state: &mut H) {
        SEEN.set(Some(key));
    }
    fn equal<'g>(one: Gc<'g, Node>, other: Gc<'g, Node>, _: &'g Mutator) -> bool {
        one.key == other.key
    }
}
