// macro (a keyword for a field: `self.await` is not a field)
// says: found keyword
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'g> {
    r#await: Gc<'g, Node>,
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ await [Gc<'g, Node>] }]
}
