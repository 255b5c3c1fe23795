// E0382
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn take(_: LocalMut<'_, Node>) {}
fn f(l: LocalMut<'_, Node>) {
    take(l);
    take(l);
}
