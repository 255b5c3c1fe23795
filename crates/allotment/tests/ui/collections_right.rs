// compiles: each of the programs beside this one, repaired
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

use std::hash::{Hash, Hasher};

impl Key for Node {
    fn hash<'g, H: Hasher>(key: Gc<'g, Node>, _: &'g Mutator, state: &mut H) {
        key.key.hash(state);
    }
    fn equal<'g>(one: Gc<'g, Node>, other: Gc<'g, Node>, _: &'g Mutator) -> bool {
        one.key == other.key
    }
}

fn first<'g>(mu: &'g Mutator, list: Gc<'g, List<Str>>) -> Option<Gc<'g, Str>> {
    list.iter(mu).find(|text| !text.is_empty())
}

fn texts<'g>(mu: &'g Mutator, list: Gc<'g, List<Str>>) -> impl Iterator<Item = &'g str> {
    list.iter(mu).map(Gc::as_ref)
}

fn f(mu: &mut Mutator, names: Local<'_, Interner>, text: Local<'_, Str>) -> Result<usize, OutOfMemory> {
    root!(mu, list = alloc!(mu, NewList::<Str>::new())?, map = Map::<Node, Str>::with_capacity(mu, 8)?);
    root!(mu, seen = alloc!(mu, NewIdMap::<Str, Unboxed<u32>>::new())?, empty = Maybe(None::<Gc<'_, Str>>));
    let text = pass!(Interner::unify(mu, names, text)?);
    pass!(List::push(mu, list, =text)?);
    for at in 0..list.get(mu).len() {
        let Some(text) = list.get(mu).get(mu, at) else { break };
        pass!(IdMap::insert(mu, seen, =text, =Unboxed(1))?);
    }
    let node = alloc!(mu, NewNode { next: None, key: 7 })?;
    pass!(Map::insert(mu, map, =node, =Interner::intern(mu, names, "seven")?)?);
    mu.collect();
    let (list, seen) = (list.get(mu), seen.get(mu));
    let one = first(mu, list).map_or(0, |text| text.len());
    let all: usize = texts(mu, list).map(str::len).sum();
    Ok(one + all + seen.len() + map.get(mu).len() + usize::from(empty.get(mu).0.is_none()))
}
