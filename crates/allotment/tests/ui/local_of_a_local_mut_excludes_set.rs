// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, mut l: LocalMut<'_, Node>) -> u64 {
    let reader = l.local();
    l.set(mu, reader.get(mu));
    reader.get(mu).key
}
