// E0277
// says: is not a type that `Gc<Any>` can be asked for
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn f<'g>(any: Gc<'g, Any>) -> Option<Gc<'g, Array<Node>>> {
    any.downcast()
}
