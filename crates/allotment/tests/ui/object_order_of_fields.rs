// compiles: plain fields before, between and behind slots of generic objects, and representations
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

#[derive(Object)]
struct P<T: Word> {
    n: u64,
    a: Field<T>,
}
#[derive(Object)]
struct Mixed<K: Word, V: Word> {
    flag: bool,
    key: Field<K>,
    hash: u32,
    pub value: Field<V>,
    byte: u8,
    weak: WeakField<Mixed<K, V>>,
    count: Plain<u16>,
}
#[derive(Object)]
#[repr(C)]
struct Ordered<T: Word> {
    byte: u8,
    slot: Field<T>,
    other: u8,
    /// Documented.
    #[doc(hidden)]
    last: Field<T>,
}
fn f<T: Word>(mu: &mut Mutator, value: Local<'_, T>) -> Result<u64, OutOfMemory> {
    let a = value.get(mu);
    let mut p = alloc!(mu, NewP::<T> { n: 1, a })?;
    let new = NewMixed { flag: true, key: value.get(mu), hash: 1, value: p, byte: 2, weak: None, count: Plain::new(1) };
    let m: Gc<'_, Mixed<T, P<T>>> = alloc!(mu, [p] => new)?;
    let o = alloc!(mu, [p] => NewOrdered::<T> { byte: 1, slot: value.get(mu), other: 2, last: value.get(mu) })?;
    Ok(p.n)
}
trait Named<'a> {}
impl<'a> Named<'a> for Node {}
trait Copy2 {}
impl Copy2 for Node {}
trait Key: Word + Copy2 {}
impl Key for Node {}
trait Fn2<A> {
    type Out;
}
impl Fn2<u8> for Node {
    type Out = Node;
}
#[derive(Object)]
struct Bounded<K: Key + for<'a> Named<'a> + 'static, V: Word + Fn2<u8, Out = Node>>
where
    for<'b> K: Named<'b> + Copy2,
    Option<K>: Sized,
    (K, V): Sized,
{
    n: u8,
    key: Field<K>,
    value: Field<V>,
}
fn g(mu: &mut Mutator, node: Local<'_, Node>) -> Result<u8, OutOfMemory> {
    let new = NewBounded::<Node, Node> { n: 1, key: node.get(mu), value: node.get(mu) };
    Ok(alloc!(mu, new)?.n)
}
