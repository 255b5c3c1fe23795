// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let mut cursor = Some(a.get(mu));
    let mut n = 0;
    while let Some(p) = cursor {
        n += p.key;
        mu.safepoint();
        cursor = p.next.load(mu);
    }
    n
}
