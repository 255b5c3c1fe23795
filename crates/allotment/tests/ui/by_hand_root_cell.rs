// E0433 (the cell of a root, named by the user)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) {
    allotment::__root_cell!([mu] cell = a.get(mu));
}
