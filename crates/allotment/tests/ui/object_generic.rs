// compiles: a generic object, its bounds, defaults and where clause
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

#[derive(Object)]
pub struct Entry<K: Word, V>
where
    V: Word,
{
    /// The key.
    key: Field<K>,
    value: Field<V>,
    next: Field<Option<Self>>,
    weak: WeakField<Entry<K, V>>,
    hash: u32,
    pub count: Plain<u64>,
}
fn f<K: Word, V: Word>(mu: &mut Mutator, key: Local<'_, K>, value: Local<'_, V>) -> Result<u64, OutOfMemory> {
    let new = NewEntry::<K, V> { key: key.get(mu), value: value.get(mu), next: None, weak: None, hash: 1, count: Plain::new(2) };
    let mut entry = alloc!(mu, new)?;
    let new = NewEntry { key: key.get(mu), value: value.get(mu), next: Some(entry), weak: None, hash: 1, count: Plain::new(2) };
    let other = alloc!(mu, [entry] => new)?;
    Ok(entry.count.get() + u64::from(other.hash))
}
fn g(mu: &mut Mutator, key: Local<'_, Node>) -> Result<u64, OutOfMemory> {
    f::<Node, Node>(mu, key, key)
}
