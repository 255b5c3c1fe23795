// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

impl New for u64 {
    type Object = Node;
    fn type_shape() -> &'static raw::TypeShape {
        <Node as Downcast>::type_shape()
    }
    fn bytes(&self) -> usize {
        16
    }
    unsafe fn write(self, _: std::ptr::NonNull<u8>) {}
}
