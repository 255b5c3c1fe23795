// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Mine;
impl SlotField for Mine {
    type Init<'g> = ();
    const KIND: raw::SlotKind = raw::SlotKind::Strong;
    unsafe fn init((): ()) -> Self {
        Mine
    }
}
