// E0277
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &Mutator, a: Local<'_, Node>) {
    let p = a.get(mu);
    std::thread::scope(|s| {
        s.spawn(move || p.key);
    });
}
