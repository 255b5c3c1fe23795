// macro (the macro behind the derive, with a keyword for a field: `self.await` is no field)
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
    carry State [State<'g>]
    generics ['g,]
    at '__al_at [State<'__al_at>]
    bounds []
    fields [{ await [Gc<'g, Node>] }]
}

fn f<'g>(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
    let state = State { r#await: node };
    rebind!(mu, state).r#await.key
}
