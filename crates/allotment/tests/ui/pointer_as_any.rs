// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let p: Box<dyn std::any::Any> = Box::new(a.get(mu));
    mu.collect();
    p.downcast_ref::<Gc<'static, Node>>().unwrap().key
}
