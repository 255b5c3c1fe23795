// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Mine;
impl Object for Mine {
    type View = Mine;
    unsafe fn view<'g>(_: std::ptr::NonNull<u8>) -> &'g Mine {
        &Mine
    }
}
