// E0502 (the function wants a static reference)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn h(call: Call<'_, (&'static Node,)>) -> u64 {
    0
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    call!(mu, h(a.get(mu).as_ref()))
}
