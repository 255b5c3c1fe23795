// E0308 (the field dereferences to the type that is named: the collector would call the user)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Sly<'g>(Gc<'g, Node>);
impl<'g> std::ops::Deref for Sly<'g> {
    type Target = Gc<'g, Node>;
    fn deref(&self) -> &Gc<'g, Node> {
        &self.0
    }
}
impl<'g> std::ops::DerefMut for Sly<'g> {
    fn deref_mut(&mut self) -> &mut Gc<'g, Node> {
        &mut self.0
    }
}
struct State<'g> {
    node: Sly<'g>,
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ node [Gc<'g, Node>] }]
}
