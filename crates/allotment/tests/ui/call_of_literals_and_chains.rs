// compiles: literals among bare arguments, and what is done with the result
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn wide<'m>(call: Call<'m, (Gc<'_, Node>, u64)>) -> Result<Gc<'m, Node>, OutOfMemory> {
    enter!(call => mu, (node, n));
    alloc!(mu, NewNode { next: Some(node), key: n })
}
fn floats(call: Call<'_, (f32, Option<Gc<'_, Node>>, i8, u16)>) -> u64 {
    enter!(call => mu, (a, b, c, d));
    b.map_or(0, |node| node.key)
}
fn none<'m>(call: Call<'m, ()>) -> Gc<'m, Str> {
    enter!(call => mu, ());
    alloc!(mu, NewStr::from("none")).unwrap()
}
struct Vm(u64);
impl Vm {
    fn longest<'m>(&self, call: Call<'m, (Gc<'_, Str>, Gc<'_, Str>, &str)>) -> Gc<'m, Str> {
        enter!(call => mu, (a, b, text));
        if a.len() > b.len() { a } else { b }
    }
    fn of(&self, n: u64) -> &Vm {
        self
    }
}
fn f(mu: &mut Mutator, vm: &Vm, a: Local<'_, Node>, s: Local<'_, Str>) -> Result<u64, OutOfMemory> {
    let mut sum = call!(mu, wide(a.get(mu), 8))?.key;
    sum += call!(mu, wide(a.get(mu), 8)?).key;
    sum += call!(mu, wide(a.get(mu), 8).unwrap()).key;
    sum += call!(mu, wide(a.get(mu), 1 << 40).ok()).unwrap().key;
    sum += call!(mu, crate::wide(a.get(mu), 8,).expect("room")).key;
    sum += call!(mu, floats(0.5, None, -1, 2));
    sum += call!(mu, none()).len() as u64;
    sum += call!(mu, vm.of(3).longest(s.get(mu), s.get(mu), "text")).len() as u64;
    Ok(sum)
}
