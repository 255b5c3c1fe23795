// E0308 (a `Local` is not a `LocalMut`)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn push(_: &mut LocalMut<'_, Option<Node>>) {}
fn f(mu: &mut Mutator) {
    root!(mu, list = None);
    push(&mut list);
}
