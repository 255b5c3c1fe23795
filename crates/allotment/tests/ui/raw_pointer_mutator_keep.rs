// E0277 (a raw pointer must not be dereferenced by the macro)
// says: is not a reference to a mutator
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn g(a: Local<'_, Node>) -> u64 { 0 }
fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 { 0 }

fn f<'g>(mu: *mut Mutator, a: Gc<'g, Node>) -> u64 {
    { let mut a = a; keep!(mu, [a] => ()); a.key }
}
