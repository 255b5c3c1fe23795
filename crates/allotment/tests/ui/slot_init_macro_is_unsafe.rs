// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(bits: u64) -> Gc<'static, Node> {
    rt::decode_pointer::<'static, Gc<'static, Node>>(bits)
}
