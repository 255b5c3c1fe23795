// macro (a method is not a field)
// says: no rules expected
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Vm<'m, 't>(&'m mut Mutator<'t>);
impl<'t> Vm<'_, 't> {
    fn mu(&mut self) -> &mut Mutator<'t> {
        self.0.collect();
        self.0
    }
}
fn f(vm: &mut Vm<'_, '_>) -> u64 {
    alloc!(vm.mu(), NewNode { next: None, key: 1 }).unwrap().key
}
