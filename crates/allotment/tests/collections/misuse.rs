//! Programs that break the rules of a collection: wrong answers are allowed, panics and broken
//! heaps are not.

use super::heap;
use allotment::{
    Gc, Heap, Interner, Key, List, Map, Mutator, NewInterner, NewList, NewMap, NewStr, Object, Root, Str,
    Unboxed, alloc, pass, root,
};
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

#[derive(Object)]
struct Evil {
    number: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mischief {
    None,
    Remove,
    Clear,
    Panic,
}

thread_local! {
    static MAP: RefCell<Option<Root<Map<Evil, Unboxed<u32>>>>> = const { RefCell::new(None) };
    static MISCHIEF: Cell<Mischief> = const { Cell::new(Mischief::None) };
}

/// All collide, and comparing them changes the map.
impl Key for Evil {
    fn hash<'g, H: Hasher>(_: Gc<'g, Evil>, _: &'g Mutator<'_>, state: &mut H) {
        7.hash(state);
    }

    fn equal<'g>(one: Gc<'g, Evil>, other: Gc<'g, Evil>, mu: &'g Mutator<'_>) -> bool {
        let map = MAP.with_borrow(|map| map.as_ref().map(|map| map.get(mu)));
        match (MISCHIEF.replace(Mischief::None), map) {
            (Mischief::Remove, Some(map)) => {
                map.remove(mu, one);
                map.remove(mu, other);
            }
            (Mischief::Clear, Some(map)) => map.clear(mu),
            (Mischief::Panic, _) => panic!("equality panics"),
            _ => {}
        }
        one.number == other.number
    }
}

/// For each mischief, in an insertion, a replacement, a look-up and a removal.
#[test]
fn equality_may_change_its_map_or_panic() {
    let heap = heap("ZealInterval=1,+ZealMove");
    heap.attach(|mu| {
        for mischief in [Mischief::Remove, Mischief::Clear, Mischief::Panic] {
            for number in [2, 99] {
                for operation in 0..3 {
                    root!(mu, map = alloc!(mu, NewMap::<Evil, Unboxed<u32>>::new()).unwrap());
                    for number in 0..6 {
                        let key = alloc!(mu, NewEvil { number }).unwrap();
                        pass!(Map::insert(mu, map, =key, =Unboxed(number))).unwrap();
                    }
                    MAP.set(Some(Root::new(mu, map.get(mu))));
                    root!(mu, key = alloc!(mu, NewEvil { number }).unwrap(), value = Unboxed(1));
                    MISCHIEF.set(mischief);
                    let panicked = catch_unwind(AssertUnwindSafe(|| match operation {
                        0 => Map::insert(mu, map, key, value).unwrap(),
                        1 => drop(map.get(mu).remove(mu, key.get(mu))),
                        _ => drop(map.get(mu).get(mu, key.get(mu))),
                    }));
                    assert_eq!(panicked.is_err(), mischief == Mischief::Panic);
                    assert_eq!(MISCHIEF.replace(Mischief::None), Mischief::None);
                    MAP.set(None);
                    // Panics come before the first change.
                    if mischief == Mischief::Panic {
                        assert!(map.get(mu).iter(mu).map(|(_, value)| value.0).eq(0..6));
                    }
                    // And the map works again.
                    map.get(mu).clear(mu);
                    Map::insert(mu, map, key, value).unwrap();
                    assert_eq!(map.get(mu).get(mu, key.get(mu)), Some(Unboxed(1)));
                    assert_eq!(map.get(mu).len(), 1);
                }
            }
        }
    })
    .unwrap();
}

struct Shared {
    list: Root<List<Str>>,
    map: Root<Map<Str, Unboxed<u32>>>,
    interner: Root<Interner>,
}

fn shared(heap: &Heap) -> Shared {
    let make = |mu: &mut Mutator<'_>| {
        root!(mu, list = alloc!(mu, NewList::new()).unwrap(), map = alloc!(mu, NewMap::new()).unwrap());
        let interner = alloc!(mu, NewInterner::new()).unwrap();
        Shared {
            interner: Root::new(mu, interner),
            list: Root::new(mu, list.get(mu)),
            map: Root::new(mu, map.get(mu)),
        }
    };
    heap.attach(make).unwrap()
}

/// One turn of a thread at all three.
fn turn(mu: &mut Mutator<'_>, shared: &Shared, number: u32) {
    root!(mu, list = shared.list.get(mu), map = shared.map.get(mu), interner = shared.interner.get(mu));
    let text = (number % 50).to_string();
    root!(mu, text = Interner::intern(mu, interner, &text).unwrap());
    List::push(mu, list, text).unwrap();
    pass!(Map::insert(mu, map, text, =Unboxed(number))).unwrap();
    if number.is_multiple_of(3) {
        list.get(mu).remove(mu, 0);
        map.get(mu).remove(mu, text.get(mu));
    }
    if number.is_multiple_of(101) {
        list.get(mu).clear(mu);
        map.get(mu).clear(mu);
    }
    // Whatever is in there is an object.
    assert!(list.get(mu).iter(mu).all(|text| text.len() < 4));
    assert!(map.get(mu).iter(mu).all(|(text, _)| text.len() < 4));
}

#[test]
fn threads_that_take_no_turns_break_nothing() {
    let heap = heap("ZealInterval=50,+ZealMove,+ZealPoison");
    let shared = shared(&heap);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                heap.attach(|mu| (0..3000).for_each(|number| turn(mu, &shared, number))).unwrap();
            });
        }
    });
    heap.verify().unwrap();
}

#[test]
fn threads_that_take_turns_lose_nothing() {
    let heap = heap("ZealInterval=20,+ZealMove");
    let shared = shared(&heap);
    let lock = Mutex::new(());
    std::thread::scope(|scope| {
        for thread in 0..3_u32 {
            let (heap, shared, lock) = (&heap, &shared, &lock);
            scope.spawn(move || {
                heap.attach(|mu| {
                    for number in 0..100 {
                        let _turn = mu.blocking(|| lock.lock().unwrap());
                        root!(mu, list = shared.list.get(mu), map = shared.map.get(mu));
                        let text = (thread * 100 + number).to_string();
                        root!(mu, text = alloc!(mu, NewStr::from(&*text)).unwrap());
                        List::push(mu, list, text).unwrap();
                        pass!(Map::insert(mu, map, text, =Unboxed(number))).unwrap();
                    }
                })
                .unwrap();
            });
        }
    });
    heap.attach(|mu| {
        assert_eq!((shared.list.get(mu).len(), shared.map.get(mu).len()), (300, 300));
        assert!((0..300).all(|key| shared.map.get(mu).get_str(mu, &key.to_string()).is_some()));
    })
    .unwrap();
}
