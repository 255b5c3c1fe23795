//! Where memory ends, an operation says so and has changed nothing.

use super::heap;
use super::maps::Clumsy;
use allotment::{
    IdMap, Interner, List, Local, Map, Mutator, NewIdMap, NewInterner, NewList, NewMap, NewStr, OutOfMemory,
    Str, Unboxed, alloc, pass, root,
};

/// Runs a program with no memory for its first allocation, its second, and so on until it has
/// enough. Returns the number of runs in which memory ended.
fn at_every_allocation(program: impl Fn(&mut Mutator<'_>) -> bool) -> usize {
    for allocation in 1..500 {
        let heap = heap(&format!("ZealOutOfMemory={allocation},ZealInterval=2,+ZealMove"));
        if !heap.attach(&program).expect("not attached") {
            return allocation - 1;
        }
    }
    panic!("it is told that memory is out wherever that is");
}

type Numbers = Map<Unboxed<u32>, Unboxed<u32>>;

fn entries(mu: &Mutator<'_>, map: Local<'_, Numbers>) -> Vec<(u32, u32)> {
    map.get(mu).iter(mu).map(|(key, value)| (key.0, value.0)).collect()
}

#[test]
fn a_map_that_cannot_grow_is_as_it_was() {
    let runs = at_every_allocation(|mu| {
        let Ok(map) = alloc!(mu, NewMap::new()) else { return true };
        root!(mu, map = map);
        let (mut model, mut failed) = (Vec::new(), false);
        for number in 0..40 {
            while pass!(Map::insert(mu, map, =Unboxed(number), =Unboxed(number * 2))).is_err() {
                failed = true;
                assert_eq!(entries(mu, map), model);
                assert_eq!(map.get(mu).len(), model.len());
            }
            model.push((number, number * 2));
            assert_eq!(entries(mu, map), model);
            assert!((0..=number).all(|key| map.get(mu).contains(mu, Unboxed(key))));
        }
        failed
    });
    // The map, and four arrays for each of four sizes.
    assert_eq!(runs, 17);
}

#[test]
fn a_map_by_identity_that_cannot_grow_is_as_it_was() {
    let runs = at_every_allocation(|mu| {
        let Ok(map) = alloc!(mu, NewIdMap::<Unboxed<u8>, Unboxed<u8>>::new()) else { return true };
        root!(mu, map = map);
        let mut failed = false;
        for number in 0..10 {
            while pass!(IdMap::insert(mu, map, =Unboxed(number), =Unboxed(number))).is_err() {
                failed = true;
                assert!(map.get(mu).iter(mu).map(|(key, _)| key.0).eq(0..number));
            }
        }
        assert_eq!(map.get(mu).len(), 10);
        failed
    });
    assert_eq!(runs, 9);
}

#[test]
fn a_list_that_cannot_grow_is_as_it_was() {
    let runs = at_every_allocation(|mu| {
        let Ok(list) = alloc!(mu, NewList::new()) else { return true };
        root!(mu, list = list);
        let mut failed = false;
        for number in 0..20_u32 {
            let at_front = number % 2 == 0;
            root!(mu, value = Unboxed(number));
            let attempt = |mu: &mut Mutator<'_>| match at_front {
                true => List::insert(mu, list, 0, value).map(|inserted| assert!(inserted)),
                false => List::push(mu, list, value),
            };
            while attempt(mu).is_err() {
                failed = true;
                assert_eq!(list.get(mu).len(), number as usize);
                assert_eq!(list.get(mu).iter(mu).map(|value| value.0).sum::<u32>(), (0..number).sum());
            }
        }
        let odd = (0..20).filter(|number| number % 2 == 1);
        let even = (0..20).rev().filter(|number| number % 2 == 0);
        assert!(list.get(mu).iter(mu).map(|value| value.0).eq(even.chain(odd)));
        failed
    });
    // The list, and arrays of 4, 8, 16 and 32.
    assert_eq!(runs, 5);
}

#[test]
fn an_interner_that_cannot_grow_is_as_it_was() {
    let runs = at_every_allocation(|mu| {
        let Ok(interner) = alloc!(mu, NewInterner::new()) else { return true };
        root!(mu, interner = interner);
        let mut failed = false;
        // Keeps them alive.
        let mut texts = allotment::Stack::<'_, Str>::new(mu);
        for number in 0..20 {
            let text = number.to_string();
            loop {
                match allotment::rebind!(mu, Interner::intern(mu, interner, &text)) {
                    Ok(known) => break texts.push(mu, known),
                    // A text without an entry is garbage.
                    Err(_) => assert_eq!(interner.get(mu).get(mu, &text), None),
                }
                failed = true;
            }
            assert_eq!(interner.get(mu).count(mu), texts.len());
        }
        failed
    });
    // The table, two arrays, and a text and an entry for each.
    assert_eq!(runs, 1 + 2 + 2 * 20);
}

/// A real end: the heap is full, and works again when the map is gone.
#[test]
fn a_full_heap_is_a_value() {
    fn fill(mu: &mut Mutator<'_>, map: Local<'_, Map<Str, Clumsy>>) -> Result<usize, OutOfMemory> {
        for number in 0.. {
            let text = format!("{number:0100}");
            let key = alloc!(mu, NewStr::from(&*text))?;
            root!(mu, key = key);
            let before = map.get(mu).len();
            assert_eq!(before, number);
            let clumsy = <Clumsy as super::maps::Sample>::make(mu, number as u8)?;
            root!(mu, clumsy = clumsy);
            if let Err(error) = Map::insert(mu, map, key, clumsy) {
                assert_eq!(map.get(mu).len(), before);
                assert_eq!(map.get(mu).get(mu, key.get(mu)), None);
                return Err(error);
            }
        }
        Ok(0)
    }
    heap("+ZealPoison")
        .attach(|mu| {
            root!(mu, map = alloc!(mu, NewMap::<Str, Clumsy>::new()).expect("room"));
            for _ in 0..3 {
                assert!(fill(mu, map).is_err());
                let this = map.get(mu);
                assert!(this.len() > 1000, "{}", this.len());
                assert!(
                    this.iter(mu).enumerate().all(|(at, (key, value))| {
                        key.parse() == Ok(at) && this.get(mu, key) == Some(value)
                    })
                );
                this.clear(mu);
            }
        })
        .unwrap();
}

#[test]
fn a_size_that_no_heap_has_is_out_of_memory() {
    heap("")
        .attach(|mu| {
            root!(mu, list = alloc!(mu, NewList::<Str>::new()).expect("room"));
            root!(mu, map = alloc!(mu, NewMap::<Str, Str>::new()).expect("room"));
            for size in [1 << 40, (3 << 30) + 1, usize::MAX / 4, usize::MAX] {
                assert!(List::reserve(mu, list, size).is_err());
                assert!(Map::reserve(mu, map, size).is_err());
                assert!(List::<Str>::with_capacity(mu, size).is_err());
                assert!(IdMap::<Str, Str>::with_capacity(mu, size).is_err());
            }
            assert_eq!((list.get(mu).capacity(mu), map.get(mu).capacity(mu)), (0, 0));
        })
        .unwrap();
}

/// A map that entries go in and out of needs no memory for that.
#[test]
fn removed_entries_make_room_where_there_is_no_memory() {
    heap("")
        .attach(|mu| {
            root!(mu, map = Numbers::with_capacity(mu, 12).expect("room"));
            let mut hoard = allotment::Stack::<'_, Str>::new(mu);
            for size in [2000, 20, 1] {
                let text = "x".repeat(size);
                while let Ok(text) = alloc!(mu, NewStr::from(&*text)) {
                    hoard.push(mu, text);
                }
            }
            for number in 0..1000 {
                pass!(Map::insert(mu, map, =Unboxed(number), =Unboxed(number)))
                    .expect("it moves the others up");
                if let Some(old) = number.checked_sub(5) {
                    assert_eq!(map.get(mu).remove(mu, Unboxed(old)), Some(Unboxed(old)));
                }
            }
            assert!(Map::reserve(mu, map, 12).is_err());
            assert!(entries(mu, map).into_iter().eq((995..1000).map(|number| (number, number))));
            assert!(hoard.len() > 1000);
        })
        .unwrap();
}
