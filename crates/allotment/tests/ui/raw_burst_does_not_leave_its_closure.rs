// lifetime
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f(mu: &mut Mutator) {
    let mut kept = None;
    mu.raw_mut().burst(|burst| kept = Some(burst));
}
