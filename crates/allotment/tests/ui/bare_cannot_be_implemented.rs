// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Clone, Copy)]
struct Mine;
impl<'g> Bare<'g> for Mine {
    type Word = Node;
    fn encode(self) -> u64 {
        64
    }
}
