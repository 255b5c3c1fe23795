// E0405 (a bound would hide from the macro that the type has a Deref)
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
struct Evil<'m, 't, T>(Vm<'m, 't>, T);
impl<'m, 't, T> std::ops::Deref for Evil<'m, 't, T> {
    type Target = Vm<'m, 't>;
    fn deref(&self) -> &Vm<'m, 't> {
        &self.0
    }
}
impl<'m, 't, T> std::ops::DerefMut for Evil<'m, 't, T> {
    fn deref_mut(&mut self) -> &mut Vm<'m, 't> {
        self.0.mu.collect();
        &mut self.0
    }
}

fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (node,));
    node.key
}

fn f<'m, 't, T>(evil: &mut Evil<'m, 't, T>, a: Local<'_, Node>) -> u64
where
    Evil<'m, 't, T>: allotment::rt::HasNoDeref<()>,
{
    call!(evil.mu, h(a.get(evil.0.mu)))
}
