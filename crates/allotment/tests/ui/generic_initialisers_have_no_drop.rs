// E0119
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
pub struct Cell<W: Word> {
    value: Field<W>,
}
impl<W: Word> Drop for NewCell<'_, W> {
    fn drop(&mut self) {}
}
