// compiles: functions, paths, methods, literals
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

mod deep {
    use super::*;
    pub fn put<'m>(mu: &'m mut Mutator, a: Local<'_, Node>, n: u64, b: Local<'_, Option<Node>>) -> Result<Gc<'m, Node>, OutOfMemory> {
        let next = b.get(mu);
        alloc!(mu, NewNode { next, key: a.get(mu).key + n })
    }
}
struct Env(u64);
impl Env {
    fn put<'m>(&mut self, mu: &'m mut Mutator, a: Local<'_, Node>) -> Result<Gc<'m, Node>, OutOfMemory> {
        deep::put(mu, a, self.0, a.get(mu).next.load(mu).map_or_else(|| todo!(), |_| todo!()))
    }
    fn count(&self, mu: &mut Mutator, a: Local<'_, Node>) -> u64 {
        mu.collect();
        a.get(mu).key
    }
}
fn f(mu: &mut Mutator, env: &mut Env, root: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let a = pass!(deep::put(mu, root, 4, =root.get(mu).next.load(mu))?);
    let b = pass!(deep::put(mu, =a, 4, =a.next.load(mu)))?;
    let c = pass!(env.put(mu, =b)?);
    let d = pass!(env.count(mu, =c,));
    let e = rebind!(env.put(mu, root)?);
    let e = e.key;
    let g = rebind!(crate::deep::put(mu, root, 1, { fn none<'a>() -> Local<'a, Option<Node>> { todo!() } none() })?);
    Ok(d + e + g.key)
}
