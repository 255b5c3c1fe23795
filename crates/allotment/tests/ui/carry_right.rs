// compiles: spans are replaced, other lifetimes kept
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

fn new<'g>(next: Option<Gc<'g, Node>>) -> NewNode<'g> {
    NewNode { next, key: 0 }
}

#[derive(Clone, Copy, Carry)]
struct State<'g, 's> {
    node: Gc<'g, Node>,
    pair: (Option<Gc<'g, Node>>, u64),
    source: &'s str,
}
#[derive(Carry)]
struct Wrap<'g>(Gc<'g, Node>, Vec<Gc<'g, Node>>);
fn f(mu: &mut Mutator, l: Local<'_, Node>, source: &str) -> Result<u64, OutOfMemory> {
    let mut state = State { node: l.get(mu), pair: (None, 1), source };
    let mut wrap = Wrap(l.get(mu), vec![l.get(mu)]);
    let p = alloc!(mu, [state, wrap] => new(None))?;
    Ok(state.node.key + wrap.1[0].key + p.key + state.source.len() as u64)
}
