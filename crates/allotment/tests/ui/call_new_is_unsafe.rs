// E0133
// says: call to unsafe function `allotment::rt::arguments`
// says: `allotment::Call::<'m, A>::new`
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

fn f<'m>(mu: &'m mut Mutator, p: Gc<'static, Node>) -> Call<'m, (Gc<'m, Node>,)> {
    rt::Call::new(mu, rt::arguments((p,)))
}
