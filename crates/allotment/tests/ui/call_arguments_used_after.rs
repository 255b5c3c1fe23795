// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (a,));
    let k = a.key;
    mu.collect();
    k
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p = a.get(mu);
    let k = call!(mu, g(p));
    k + p.key
}
