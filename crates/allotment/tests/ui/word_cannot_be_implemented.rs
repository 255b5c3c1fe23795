// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Mine;
impl Word for Mine {
    type Of<'g> = Option<Gc<'g, Node>>;
    unsafe fn decode<'g>(_: u64) -> Option<Gc<'g, Node>> {
        None
    }
}
