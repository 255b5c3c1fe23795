// E0026 (the field of what it dereferences to)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Inner<'g> {
    node: Gc<'g, Node>,
}
struct State<'g> {
    inner: Inner<'g>,
}
impl<'g> std::ops::Deref for State<'g> {
    type Target = Inner<'g>;
    fn deref(&self) -> &Inner<'g> {
        &self.inner
    }
}
impl<'g> std::ops::DerefMut for State<'g> {
    fn deref_mut(&mut self) -> &mut Inner<'g> {
        &mut self.inner
    }
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ node [Gc<'g, Node>] }]
}
