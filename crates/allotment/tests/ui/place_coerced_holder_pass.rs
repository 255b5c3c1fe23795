// E0277 (a type that derefs to `&mut` is no `&mut`: its `deref_mut` collects before the restore)
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
struct Evil<'v, 'm, 't>(&'v mut Vm<'m, 't>);
impl<'v, 'm, 't> std::ops::Deref for Evil<'v, 'm, 't> {
    type Target = &'v mut Vm<'m, 't>;
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
impl<'v, 'm, 't> std::ops::DerefMut for Evil<'v, 'm, 't> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.mu.collect();
        &mut self.0
    }
}
fn g(mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
    a.get(mu).key
}
fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (a,));
    a.key
}
fn f(mut evil: Evil<'_, '_, '_>, a: Local<'_, Node>) -> u64 {
    pass!(evil.mu => g(evil.0.mu, =a.get(evil.0.mu)))
}
