// E0271
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g(call: Call<'_, (Gc<'_, Node>, u64)>) -> u64 {
    0
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    call!(mu, g(a.get(mu), "8"))
}
