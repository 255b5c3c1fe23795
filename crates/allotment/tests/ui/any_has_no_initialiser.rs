// E0277
// says: is not an initialiser
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, p: Local<'_, Node>) {
    let _ = alloc!(mu, p.get(mu));
}
