// E0133
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    let (mu, args) = call.split();
    mu.collect();
    args.0.key
}
