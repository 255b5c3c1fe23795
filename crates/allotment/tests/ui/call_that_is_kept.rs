// E0499 (a call holds the mutator)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn keep<'m>(call: Call<'m, (Gc<'m, Node>,)>, slot: &mut Option<Call<'m, (Gc<'m, Node>,)>>) -> u8 {
    *slot = Some(call);
    0
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let mut slot = None;
    {
        let mut k = |call| keep(call, &mut slot);
        call!(mu, k(a.get(mu)));
    }
    mu.collect();
    let call = slot.unwrap();
    enter!(call => mu, (node,));
    node.key
}
