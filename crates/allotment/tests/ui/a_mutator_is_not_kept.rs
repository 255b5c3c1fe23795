// E0521
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::cell::RefCell;
use std::rc::Rc;
fn f(heap: &Heap, slot: Rc<RefCell<Option<&'static mut Mutator<'static>>>>) {
    heap.attach(|mu| {
        *slot.borrow_mut() = Some(mu);
    })
    .unwrap();
}
