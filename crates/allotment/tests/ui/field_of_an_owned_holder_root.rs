// E0277 (a field is reached through `&mut` only)
// says: a macro does not take a mutator out of a `Evil
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
}
struct Evil<'m, 't>(Vm<'m, 't>);
impl<'m, 't> std::ops::Deref for Evil<'m, 't> {
    type Target = Vm<'m, 't>;
    fn deref(&self) -> &Vm<'m, 't> {
        &self.0
    }
}
impl<'m, 't> std::ops::DerefMut for Evil<'m, 't> {
    fn deref_mut(&mut self) -> &mut Vm<'m, 't> {
        self.0.mu.collect();
        &mut self.0
    }
}

fn g(a: Local<'_, Node>) -> u64 { 0 }
fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 { 0 }

fn f<'g>(mut evil: Evil<'_, '_>, a: Gc<'g, Node>) -> u64 {
    { root!(evil.mu, r = a); 0 }
}
