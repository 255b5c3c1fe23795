// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, slots: Local<'_, Slots<f64>>) -> f64 {
    let slot = slots.get(mu).at(0);
    mu.safepoint();
    slot.get()
}
