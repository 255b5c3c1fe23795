// E0716
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g<'a>(mu: &mut Mutator, a: Local<'a, Node>) -> Local<'a, Node> {
    a
}
fn f<'m>(mu: &'m mut Mutator, a: Local<'m, Node>) -> u64 {
    let p = a.get(mu);
    let mut out = a;
    pass!(mu => keep_it(mu, &mut out, =p));
    out.get(mu).key
}
fn keep_it<'a>(mu: &mut Mutator, out: &mut Local<'a, Node>, a: Local<'a, Node>) {
    *out = a;
}
