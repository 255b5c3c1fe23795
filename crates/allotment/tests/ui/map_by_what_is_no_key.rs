// E0277
// says: cannot be the key of a map by content
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, l: Local<'_, Map<Node, Str>>, key: Local<'_, Node>) -> bool {
    l.get(mu).contains(mu, key.get(mu))
}
