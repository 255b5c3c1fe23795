// compiles: operations on the result of a call, before it is rebound
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn make<'m>(mu: &'m mut Mutator) -> Result<Gc<'m, Node>, OutOfMemory> {
    alloc!(mu, NewNode { next: None, key: 1 })
}
fn maybe<'m>(mu: &'m mut Mutator, fallback: Local<'_, Node>) -> Option<Gc<'m, Node>> {
    mu.safepoint();
    Some(fallback.get(mu))
}
struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
    key: u64,
}
impl Vm<'_, '_> {
    fn make(&mut self) -> Result<Gc<'_, Node>, OutOfMemory> {
        make(self.mu)
    }
}
struct Makers(u64);
impl Makers {
    fn of(&self, kind: u64) -> &Makers {
        self
    }
    fn make<'m>(&self, mu: &'m mut Mutator) -> Result<Gc<'m, Node>, OutOfMemory> {
        make(mu)
    }
}
#[derive(Carry)]
struct Pair<'g> {
    one: Gc<'g, Node>,
    n: u64,
}
fn pair<'m>(mu: &'m mut Mutator) -> Pair<'m> {
    let one = make(mu).unwrap();
    Pair { one, n: 1 }
}
fn all(mu: &mut Mutator, vm: &mut Vm<'_, '_>, a: Local<'_, Node>, makers: &Makers, kind: u64) -> Result<u64, OutOfMemory> {
    let mut sum = rebind!(make(mu).unwrap()).key;
    sum += rebind!(make(mu).expect("there is room")).key;
    sum += rebind!(make(mu)?).key;
    sum += rebind!(make(mu))?.key;
    sum += rebind!(make(mu).ok()).map_or(0, |node| node.key);
    sum += rebind!(make(mu).map(Some)?).unwrap().key;
    let convert = |error: OutOfMemory| error;
    sum += rebind!(make(mu).map_err(convert)?).key;
    sum += rebind!(maybe(mu, a).ok_or(kind)).unwrap().key;
    sum += rebind!(maybe(mu, a).unwrap_or_else(|| unreachable!())).key;
    sum += rebind!(pair(mu).one).key;
    sum += rebind!({ pair }(mu).one).key;
    sum += rebind!(makers.of(kind).make(mu)?).key;
    sum += rebind!(makers.of(kind).make(mu).unwrap()).key;
    sum += rebind!(crate::maybe(mu, a,).unwrap()).key;
    sum += rebind!(make(vm.mu).unwrap()).key;
    sum += rebind!(vm.mu, vm.make().unwrap()).key;
    Ok(sum)
}
fn passes(mu: &mut Mutator, vm: &mut Vm<'_, '_>, a: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    let one = pass!(maybe(mu, =a.get(mu)).unwrap());
    let two = pass!(maybe(mu, =one).ok_or(7)).unwrap();
    let three = pass!(maybe(mu, =two).unwrap_or_else(|| unreachable!()));
    let mut n = three.key;
    n += pass!(vm.mu => vm.make().unwrap()).key;
    n += pass!(vm.mu => vm.make())?.key;
    Ok(n)
}
