//! A predicate that is false where the field is checked, and true where `Carry` is implemented.
#![forbid(unsafe_code)]
use allotment::*;

#[derive(Object)]
pub struct Node {
    pub next: Field<Option<Node>>,
    pub key: u64,
}

struct Sel<const B: bool>;
trait Pick<'x, 'y> {
    type T;
}
impl<'x, 'y> Pick<'x, 'y> for Sel<false> {
    type T = &'y Node;
}
impl<'x, 'y> Pick<'x, 'y> for Sel<true> {
    type T = &'x Node;
}

#[derive(Carry)]
struct S<'g>
where
    for<'x, 'y> <Sel<{ pick::pick!(false ; true) }> as Pick<'x, 'y>>::T: Carry<At<'y> = &'y Node>,
{
    n: &'g Node,
}

fn main() {
    let heap = Heap::builder().max_heap_size(16 << 20).zeal_move(true).zeal_poison(true).build().unwrap();
    heap.attach(|mu| {
        let n = alloc!(mu, NewNode { next: None, key: 7 }).unwrap();
        let mut s = S { n: n.as_ref() };
        keep!(mu, [s] => { mu.collect(); });
        assert_eq!(s.n.key, 7);
    })
    .unwrap();
}
