// E0502
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Holder<'g>(Gc<'g, Node>);
impl Drop for Holder<'_> {
    fn drop(&mut self) {
        println!("{}", self.0.key);
    }
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) {
    let _holder = Holder(a.get(mu));
    mu.collect();
}
