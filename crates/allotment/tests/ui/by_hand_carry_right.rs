// compiles: the macro behind the derive, as the derive calls it
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct State<'g> {
    node: Gc<'g, Node>,
}
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ node [Gc<'g, Node>] }]
}
struct Wide<'g, 'a, T: ?Sized, const N: usize> {
    list: [Gc<'g, Node>; N],
    text: &'a T,
}
allotment::__carry! {
    carry Wide
    span 'g at '__al_at
    lifetimes ['a]
    params [type T; const N usize;]
    predicates [{ type [] T: maybe Sized, }]
    fields [{ list [[Gc<'g, Node>; N]] } { text [&'a T] }]
}
