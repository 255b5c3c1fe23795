// E0502 (a parameter that says that it is itself at every span)
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Carry)]
struct Beside<'g, T>
where
    T: for<'h> Carry<At<'h> = T>,
{
    other: T,
    node: Gc<'g, Node>,
}
fn f(mu: &mut Mutator) -> u64 {
    let node = alloc!(mu, NewNode { next: None, key: 1 }).unwrap();
    let mut beside = Beside { other: node, node };
    keep!(mu, [beside] => mu.collect());
    beside.other.key
}
