// macro (statements behind the call)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (a,));
    a.key
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    allotment::__call!([mu] [g] (a.get(mu)) [; mu.collect()])
}
