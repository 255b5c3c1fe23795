// E0616 (a shape that exists is not changed)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f() {
    let shape = <Node as Downcast>::type_shape();
    shape.shape.slots;
}
