// E0080 (`0.1` is one token, and a Deref may lie between the two)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Evil<'m, 't>((u8, &'m mut Mutator<'t>));
impl<'m, 't> std::ops::Deref for Evil<'m, 't> {
    type Target = (u8, &'m mut Mutator<'t>);
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
impl std::ops::DerefMut for Evil<'_, '_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.1.collect();
        &mut self.0
    }
}
struct Holder<'m, 't>(Evil<'m, 't>);

fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (node,));
    node.key
}

fn f(holder: &mut Holder<'_, '_>, a: Local<'_, Node>) -> u64 {
    call!(holder.0.1, h(a.get(holder.0.0.1)))
}
