// E0308 or nothing worse: a trait of the user that catches the method of `keep!`
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

trait Hijack {
    fn __al_shadow(self) -> u8;
}
impl<T> Hijack for T {
    fn __al_shadow(self) -> u8 {
        0
    }
}
fn f(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    let mut p = a.get(mu);
    keep!(mu, [p] => { let _q: Gc<'_, Node> = p; mu.collect() });
    p.key
}
