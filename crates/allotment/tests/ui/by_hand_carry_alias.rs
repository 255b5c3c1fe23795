// carry (an alias through which the span is another parameter)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

trait At {
    type Type: ?Sized;
}
struct Store<T>(T);
type State<'g> = Store<(Gc<'g, Node>, Gc<'static, Node>)>;
allotment::__carry! {
    carry State
    span 'g at '__al_at
    lifetimes []
    params []
    predicates []
    fields [{ 0 [(Gc<'g, Node>, Gc<'static, Node>)] }]
}
