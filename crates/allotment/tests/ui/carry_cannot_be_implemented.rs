// E0200
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Mine<'g>(Gc<'g, Node>);
impl Carry for Mine<'_> {
    type At<'g> = Mine<'g>;
    fn trace(&mut self, _: &mut rt::SlotVisitor<'_>) {}
}
