// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, text: Local<'_, Str>) -> usize {
    let text: &str = text.get(mu).as_ref();
    mu.safepoint();
    text.len()
}
