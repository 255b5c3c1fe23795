// compiles: `self.mu` as the mutator of every macro
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

fn make<'m>(mu: &'m mut Mutator) -> Result<Gc<'m, Node>, OutOfMemory> {
    alloc!(mu, new(None))
}

struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
    count: u64,
}
fn g(mu: &mut Mutator, a: Local<'_, Node>, b: Local<'_, Node>) -> u64 {
    mu.collect();
    a.get(mu).key + b.get(mu).key
}
fn h<'m>(call: Call<'m, (Gc<'_, Node>,)>) -> u64 {
    enter!(call => mu, (a,));
    a.key
}
impl Vm<'_, '_> {
    fn make(&mut self) -> Result<Gc<'_, Node>, OutOfMemory> {
        self.count += 1;
        alloc!(self.mu, NewNode { next: None, key: self.count })
    }
    fn sum(&mut self, a: Local<'_, Node>, b: Local<'_, Node>) -> u64 {
        self.mu.collect();
        a.get(self.mu).key + b.get(self.mu).key
    }
    fn run(&mut self) -> Result<u64, OutOfMemory> {
        let mut a = rebind!(self.mu, self.make()?);
        let b = alloc!(self.mu, [a] => new(Some(a)))?;
        root!(self.mu, mut c = b, b = b);
        keep!(self.mu, [a] => self.mu.collect());
        c.set(self.mu, a);
        let mut sum = pass!(g(self.mu, =a, =b.get(self.mu)));
        let a = c.get(self.mu);
        sum += pass!(self.mu => self.sum(=a, b));
        let a = c.get(self.mu);
        sum += call!(self.mu, h(a));
        Ok(sum)
    }
    fn last<'a>(&'a mut self, local: Local<'_, Node>) -> Result<Gc<'a, Node>, OutOfMemory> {
        if self.count > 3 {
            ret!(self.mu, Ok(local.get(self.mu)));
        }
        self.mu.collect();
        Ok(local.get(self.mu))
    }
}
