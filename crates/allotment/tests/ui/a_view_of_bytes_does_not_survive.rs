// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, bytes: Local<'_, Bytes>) -> usize {
    let bytes: &[u8] = bytes.get(mu).as_ref();
    mu.safepoint();
    bytes.len()
}
