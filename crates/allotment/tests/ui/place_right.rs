// compiles: variables, fields, tuples, raw names, names from a macro, closures, generic holders
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Vm<'m, 't> {
    mu: &'m mut Mutator<'t>,
    r#await: u64,
}
struct Raw<'m, 't> {
    r#await: &'m mut Mutator<'t>,
}
struct Wide<'m, 't, T: ?Sized>(&'m mut Mutator<'t>, T);
fn new<'g>() -> NewNode<'g> {
    NewNode { next: None, key: 1 }
}
fn field(vm: &mut Vm<'_, '_>) -> Result<u64, OutOfMemory> {
    let mut a = alloc!(vm.mu, new())?;
    let b = alloc!(vm.mu, [a] => NewNode { next: Some(a), key: vm.r#await })?;
    root!(vm.mu, b = b);
    keep!(vm.mu, [a] => vm.mu.collect());
    Ok(rebind!(vm.mu, a).key + b.get(vm.mu).key)
}
fn raw(r#type: &mut Raw<'_, '_>) -> Result<u64, OutOfMemory> {
    Ok(alloc!(r#type.r#await, new())?.key)
}
fn tuple(pair: &mut (u8, &mut Mutator<'_>)) -> Result<u64, OutOfMemory> {
    Ok(alloc!(pair.1, new())?.key)
}
fn generic<T>(wide: &mut Wide<'_, '_, T>) -> Result<u64, OutOfMemory> {
    Ok(alloc!(wide.0, new())?.key)
}
fn unsized_holder(wide: &mut Wide<'_, '_, [u8]>) -> Result<u64, OutOfMemory> {
    Ok(alloc!(wide.0, new())?.key)
}
fn closure(vm: &mut Vm<'_, '_>) -> Result<u64, OutOfMemory> {
    let mut make = || Ok(alloc!(vm.mu, new())?.key);
    make()
}
macro_rules! make {
    ($name:ident, $field:tt) => { alloc!($name.$field, new())?.key };
    ($name:ident) => {{
        let holder = $name;
        alloc!(holder.mu, new())?.key
    }};
}
fn written(vm: &mut Vm<'_, '_>) -> Result<u64, OutOfMemory> {
    Ok(make!(vm, mu) + make!(vm))
}
trait Run {
    fn run(&mut self) -> Result<u64, OutOfMemory>;
}
impl Run for Mutator<'_> {
    fn run(&mut self) -> Result<u64, OutOfMemory> {
        Ok(alloc!(self, new())?.key)
    }
}
async fn waits(vm: &mut Vm<'_, '_>) -> Result<u64, OutOfMemory> {
    std::future::ready(()).await;
    Ok(alloc!(vm.mu, new())?.key)
}
