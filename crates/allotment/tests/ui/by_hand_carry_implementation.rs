// E0433 (the implementation without its checks)
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
allotment::__carry_impl!(['g,] [] [State<'g>] 'at [State<'at>] {});
