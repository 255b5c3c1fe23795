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
impl<'g> Pointer<'g> for Mine {
    fn address(self) -> u64 {
        8
    }
    unsafe fn from_address(_: u64) -> Self {
        Mine
    }
}
