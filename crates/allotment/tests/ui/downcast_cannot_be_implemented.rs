// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Mine;
impl Downcast for Mine {
    fn type_shape() -> &'static raw::TypeShape {
        <Node as Downcast>::type_shape()
    }
}
