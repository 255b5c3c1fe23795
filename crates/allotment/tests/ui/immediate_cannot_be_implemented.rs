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
impl Immediate for Mine {
    fn payload(self) -> u64 {
        0
    }
    unsafe fn from_payload(_: u64) -> Self {
        Mine
    }
}
