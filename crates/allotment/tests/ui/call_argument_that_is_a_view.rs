// E0502 (a view keeps its span)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn h<'a>(call: Call<'_, (&'a Node,)>) -> &'a Node {
    enter!(call => mu, (a,));
    mu.collect();
    a
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    call!(mu, h(a.get(mu).as_ref())).key
}
