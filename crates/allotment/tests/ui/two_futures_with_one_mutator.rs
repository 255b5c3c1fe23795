// E0500
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

async fn pause() {}
fn f(mu: &mut Mutator, a: Local<'_, Node>) {
    let reads = async {
        let p = a.get(mu);
        pause().await;
        p.key
    };
    let collects = async { mu.collect() };
    drop((reads, collects));
}
