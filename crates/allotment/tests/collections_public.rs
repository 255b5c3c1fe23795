//! The collections, compiled as a user's code is: outside of the library, where neither `unsafe`
//! nor anything private can be meant.
#![forbid(unsafe_code)]

#[path = "../src/collections/mod.rs"]
pub mod collections;

use allotment::{Heap, NewStr, OutOfMemory, Str, Unboxed, alloc, pass, root};
use collections::{Interner, List, Map, NewInterner, NewList, NewMap};

#[test]
fn the_collections_need_nothing_that_users_do_not_have() {
    let heap = Heap::builder().max_heap_size(16 << 20).options("ZealInterval=1,+ZealMove").unwrap();
    let heap = heap.build().unwrap();
    let outcome = heap.attach(|mu| {
        root!(
            mu,
            names = alloc!(mu, NewInterner::new())?,
            map = alloc!(mu, NewMap::<Str, Unboxed<u32>>::new())?
        );
        root!(mu, list = alloc!(mu, NewList::<Str>::new())?);
        for number in 0..40 {
            root!(mu, name = Interner::intern(mu, names, &format!("{}", number % 10))?);
            pass!(Map::insert(mu, map, name, =Unboxed(number))?);
            List::push(mu, list, name)?;
        }
        assert_eq!(map.get(mu).iter(mu).map(|(_, last)| last.0).sum::<u32>(), (30..40).sum());
        let list = list.get(mu);
        assert_eq!(list.get(mu, 3), list.get(mu, 33));
        let new = alloc!(mu, NewStr::from("3"))?;
        assert_eq!(map.get(mu).get(mu, new), Some(Unboxed(33)));
        Ok::<(), OutOfMemory>(())
    });
    outcome.unwrap().unwrap();
}
