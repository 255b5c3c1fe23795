// macro (the macro behind the macro, with an expression for the mutator)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Evil<'m, 't>(&'m mut Mutator<'t>);
impl<'t> Evil<'_, 't> {
    fn collect(&mut self) -> &Mutator<'t> {
        self.0.collect();
        self.0
    }
}

fn f(evil: &mut Evil<'_, '_>, a: Local<'_, Node>) -> u64 {
    allotment::__rebind!([evil.collect()] a.get(evil.0)).key
}
