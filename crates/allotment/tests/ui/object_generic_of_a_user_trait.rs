// compiles: bounds of the user
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

pub trait Key: Word {
    const KIND: u8;
}
impl Key for Node {
    const KIND: u8 = 1;
}
#[derive(Object)]
pub struct Table<K: Key> {
    key: Field<K>,
}
fn g(mu: &mut Mutator, key: Local<'_, Node>) -> Result<bool, OutOfMemory> {
    let table = alloc!(mu, NewTable::<Node> { key: key.get(mu) })?;
    Ok(table.key.load(mu).key == 0)
}
