// future
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

async fn pause() {}
fn f<'a>(mu: &'a mut Mutator<'a>, a: Local<'a, Node>) -> impl Future<Output = u64> + Send + 'a {
    async move {
        let k = a.get(mu).key;
        pause().await;
        k
    }
}
