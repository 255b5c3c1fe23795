//! Large arrays and texts are made, filled and copied in pieces. At each safepoint in between the
//! heap is valid, another thread gets its stop, and the result is that of a model.

use allotment::{
    Array, Heap, List, Maybe, Mutator, NewArray, NewBytes, NewList, NewSlots, NewStr, Object, OutOfMemory,
    Slots, Unboxed, alloc, pass, root,
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// Words of an array of several pieces, the last one short.
const WORDS: usize = 3 * (32 << 10) + 77;

const CHECKS: &str = "+VerifyBeforeGC,+VerifyAfterGC,VerifyGCLevel=3,+ZealPoison";

/// A collection comes after each piece.
const HEAPS: [&str; 6] = [
    "Collector=parallel,ZealInterval=1",
    "Collector=parallel,ZealInterval=1,+ZealMove",
    "Collector=mark-compact,ZealInterval=1",
    "Collector=shenandoah,ShenandoahGCMode=satb,ZealInterval=1",
    "Collector=shenandoah,ShenandoahGCMode=generational,ZealInterval=1",
    "Collector=shenandoah,ShenandoahGCMode=passive,ZealInterval=1",
];

#[derive(Object)]
struct Node {
    key: u64,
}

/// Runs `body` under each collector and mode, which collects and verifies after each piece.
fn everywhere(body: fn(&mut Mutator<'_>) -> Result<(), OutOfMemory>) {
    for options in HEAPS {
        let builder = Heap::builder().max_heap_size(64 << 20);
        let heap = builder.options(&format!("{options},{CHECKS}")).expect("options").build().expect("a heap");
        heap.attach(body).expect("a thread").unwrap_or_else(|error| panic!("{options}: {error}"));
    }
}

#[test]
fn arrays_are_made_in_pieces() {
    everywhere(|mu| {
        root!(mu, node = alloc!(mu, NewNode { key: 7 })?);
        let mut nulls = alloc!(mu, NewArray::<Option<Node>>::new(WORDS, None))?;
        assert!(nulls.len() == WORDS && nulls.iter(mu).all(|word| word.is_none()));
        let node_now = node.get(mu);
        // The fill word and the list of live variables move meanwhile.
        let nodes = alloc!(mu, [nulls] => NewArray::<Node>::new(WORDS, node_now))?;
        assert!(nodes.iter(mu).all(|each| each == node.get(mu) && each.key == 7));
        assert!(nulls.iter(mu).all(|word| word.is_none()));
        let numbers = alloc!(mu, NewSlots::new(2 * WORDS + 1, 0x1234_u16))?;
        assert!(numbers.len() == 2 * WORDS + 1 && numbers.iter().all(|number| number == 0x1234));
        let model: Vec<u32> = (0..3 * WORDS as u32 + 1).collect();
        let numbers = alloc!(mu, NewSlots::from(&*model))?;
        assert!(numbers.iter().eq(model.iter().copied()));
        Ok(())
    });
}

#[test]
fn texts_are_made_and_cloned_in_pieces() {
    everywhere(|mu| {
        let model: String = (0..WORDS).map(|number| format!("{number:x}é,")).collect();
        let mut text = alloc!(mu, NewStr::from(&*model))?;
        assert_eq!(&*text, model);
        let part = alloc!(mu, [text] => NewStr::part(text, 8..model.len()))?;
        assert!(*part == model[8..] && *text == *model);
        let bytes = alloc!(mu, NewBytes::from(&model.as_bytes()[3..]))?;
        let clone = alloc!(mu, NewBytes::part(bytes, 5..model.len() - 3))?;
        assert_eq!(*clone, model.as_bytes()[8..]);
        Ok(())
    });
}

/// Numbers that `mark` tells apart, boxed in objects that move.
fn fill_with_nodes(mu: &mut Mutator<'_>, model: &mut [u64]) -> Result<(), OutOfMemory> {
    root!(mu, array = alloc!(mu, NewArray::<Maybe<Node>>::new(WORDS, Maybe(None)))?);
    for index in (0..WORDS).step_by(1001) {
        root!(mu, node = Maybe(Some(alloc_node(mu, index as u64)?)));
        array.get(mu).at(index).store(mu, node.get(mu));
        model[index] = index as u64 + 1;
    }
    let check = |mu: &Mutator<'_>, model: &[u64]| {
        let words = array.get(mu).iter(mu).map(|word| word.0.map_or(0, |node| node.key + 1));
        assert!(words.eq(model.iter().copied()));
    };
    check(mu, model);
    for (from, to, len) in [(0, 5, WORDS - 5), (40_003, 0, WORDS - 40_003), (7, 50_000, 40_000), (9, 9, 9)] {
        Array::copy(mu, array, to, array, from..from + len);
        model.copy_within(from..from + len, to);
        check(mu, model);
    }
    pass!(Array::fill(mu, array, 3..WORDS - 9, =Maybe(None::<allotment::Gc<'_, Node>>)));
    model[3..WORDS - 9].fill(0);
    check(mu, model);
    Ok(())
}

fn alloc_node<'m>(mu: &'m mut Mutator<'_>, key: u64) -> Result<allotment::Gc<'m, Node>, OutOfMemory> {
    alloc!(mu, NewNode { key })
}

#[test]
fn an_overlapping_copy_with_collections_in_between_equals_a_model() {
    everywhere(|mu| {
        let mut model = vec![0_u64; WORDS];
        fill_with_nodes(mu, &mut model)?;
        let mut model: Vec<u16> = (0..5 * WORDS).map(|number| number as u16).collect();
        root!(mu, numbers = alloc!(mu, NewSlots::from(&*model))?);
        for (from, to, len) in [(0, 5, 5 * WORDS - 5), (200_003, 0, 100_003), (7, 100_000, 300_000)] {
            Slots::copy(mu, numbers, to, numbers, from..from + len);
            model.copy_within(from..from + len, to);
            assert!(numbers.get(mu).iter().eq(model.iter().copied()));
        }
        let other = vec![9_u16; 3 * WORDS];
        Slots::copy_slice(mu, numbers, 3, &other);
        model[3..][..other.len()].copy_from_slice(&other);
        Slots::fill(mu, numbers, 1..4 * WORDS, 8);
        model[1..4 * WORDS].fill(8);
        assert!(numbers.get(mu).iter().eq(model));
        Ok(())
    });
}

#[test]
fn a_range_that_does_not_fit_changes_nothing() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().expect("a heap");
    heap.attach(|mu| {
        root!(mu, array = alloc!(mu, NewArray::new(9, Unboxed(1)))?);
        let out_of_bounds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            Array::copy(mu, array, 5, array, 0..5);
        }));
        assert!(out_of_bounds.is_err() && array.get(mu).iter(mu).all(|word| word == Unboxed(1)));
        // A length beyond any heap is out of memory, in pieces or not.
        assert!(alloc!(mu, NewArray::new(usize::MAX, Unboxed(1))).is_err());
        assert!(alloc!(mu, NewSlots::new(1 << 40, 1_u8)).is_err());
        Ok::<(), OutOfMemory>(())
    })
    .expect("a thread")
    .expect("room");
}

#[test]
fn a_list_grows_over_pieces() {
    everywhere(|mu| {
        root!(mu, list = List::<Unboxed<u32>>::with_capacity(mu, 40_000)?);
        for number in 0..40_000 {
            // The list has room, so this is no allocation.
            pass!(List::push(mu, list, =Unboxed(number))?);
        }
        List::reserve(mu, list, 90_000)?;
        assert!(list.get(mu).iter(mu).eq((0..40_000).map(Unboxed)));
        root!(mu, empty = alloc!(mu, NewList::<Unboxed<u32>>::new())?);
        assert!(empty.get(mu).is_empty());
        Ok(())
    });
}

/// Bytes of the arrays of which another thread stops the maker.
const LARGE: usize = 64 << 20;

/// The stops that another thread gets while `operation` runs once, in the best of some rounds.
fn stops_during(
    operation: fn(&mut Mutator<'_>, &mut dyn FnMut(&mut Mutator<'_>)) -> Result<(), OutOfMemory>,
) -> usize {
    let heap = Heap::builder().max_heap_size(512 << 20).build().expect("a heap");
    let (stops, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut best = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            heap.attach(|mu| {
                while !over.load(Ordering::Relaxed) {
                    let stop = mu.raw_mut().stop_the_world(|_| ());
                    // `None`: the other thread's collection was a stop of its own.
                    stops.fetch_add(stop.is_some().into(), Ordering::Relaxed);
                }
            })
        });
        let attached = heap.attach(|mu| {
            // The other thread may have had no CPU.
            for _ in 0..20 {
                let mut before = None;
                let mut mark = |_: &mut Mutator<'_>| before = Some(stops.load(Ordering::Relaxed));
                operation(mu, &mut mark)?;
                best = best.max(stops.load(Ordering::Relaxed) - before.expect("the operation began"));
                if best >= 16 {
                    break;
                }
            }
            Ok::<(), OutOfMemory>(())
        });
        over.store(true, Ordering::Relaxed);
        attached.expect("a thread").expect("room");
    });
    best
}

#[test]
fn another_thread_gets_its_stops() {
    assert!(
        stops_during(|mu, mark| {
            mark(mu);
            alloc!(mu, NewArray::<Option<Node>>::new(LARGE / 8, None)).map(drop)
        }) >= 16
    );
    assert!(
        stops_during(|mu, mark| {
            root!(mu, array = alloc!(mu, NewArray::<Option<Node>>::new(LARGE / 8, None))?);
            mark(mu);
            pass!(Array::fill(mu, array, 0..LARGE / 8, =None::<allotment::Gc<'_, Node>>));
            Ok(())
        }) >= 16
    );
    assert!(
        stops_during(|mu, mark| {
            root!(mu, array = alloc!(mu, NewArray::<Option<Node>>::new(LARGE / 8, None))?);
            mark(mu);
            Array::copy(mu, array, 1, array, 0..LARGE / 8 - 1);
            Ok(())
        }) >= 16
    );
}
