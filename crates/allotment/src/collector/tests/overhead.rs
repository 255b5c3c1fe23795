//! Nearly full heaps: when allocations fail although each collection frees something, and when they
//! must not fail.
//!
//! Collections are counted, not timed: with `GCTimeLimit=0` each takes too much of the time, and
//! elsewhere the clock is the test's.

use super::{PAIR_BYTES, REGION, keys, push, root, with_pairs};
use crate::Heap;
use crate::collector::CollectionKind;
use crate::mutator::{GcOverhead, Mutator, OutOfMemory, RootHandle, RootProvider, RootVisitor};
use crate::object::{Element, Shape, ShapeRef, SlotKind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const REGIONS: usize = 64;
const COLLECTORS: [&str; 2] = ["Collector=mark-compact", "Collector=parallel"];
/// Each collection takes too much of the time.
const ALL_DEAR: &str = "GCTimeLimit=0";
/// Pairs that a program lets go of in a heap that is full of them: 0.2 % of the heap.
const FEW: u64 = 20;
/// A region of pairs: 1.6 % of the heap.
const A_REGION: u64 = (REGION / PAIR_BYTES) as u64 + 10;
/// The most stops until an allocation fails. Each has three collections at most.
const ENDS: u64 = 5;

fn heap(options: &str) -> (Heap, ShapeRef) {
    let builder = Heap::builder().test_geometry(REGION, REGIONS).use_transparent_huge_pages(false);
    with_pairs(builder.options(options).expect(options).build().expect("a heap"))
}

/// Each collector, with one worker and with two.
fn each(options: &str) -> impl Iterator<Item = (String, Heap, ShapeRef)> {
    COLLECTORS.into_iter().flat_map(|collector| [(collector, 1), (collector, 2)]).map(
        move |(collector, workers)| {
            let options = format!("{collector},ParallelGCThreads={workers},{options}");
            let (heap, pair) = heap(options.trim_end_matches(','));
            (options, heap, pair)
        },
    )
}

/// Fills the heap with a list, except for the room of `but` pairs. Returns the list.
fn fill(mutator: &mut Mutator<'_>, pair: ShapeRef, but: u64) -> RootHandle {
    let (list, spare) = (root(mutator), root(mutator));
    for key in 0..but {
        push(mutator, pair, &spare, key).expect("the heap is empty");
    }
    let error = (0..).find_map(|key| push(mutator, pair, &list, key).err()).expect("no heap holds so many");
    // They become old together with the rest, and move there.
    assert!(mutator.collect());
    assert!(error.gc_overhead().is_none(), "it is full: {error}");
    list
}

/// A pair without a reference to it.
fn waste(mutator: &mut Mutator<'_>, pair: ShapeRef) -> Result<(), OutOfMemory> {
    // SAFETY: the shape is the heap's, and the pair is not used.
    unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.map(|_| ())
}

/// Allocates garbage until that fails. Returns the error, and the number of collections until then.
fn stall(heap: &Heap, mutator: &mut Mutator<'_>, pair: ShapeRef) -> (OutOfMemory, u64) {
    let before = heap.collections().count;
    for _ in 0..100_000 {
        let outcome = waste(mutator, pair);
        let collections = heap.collections().count - before;
        if let Err(error) = outcome {
            return (error, collections);
        }
        assert!(collections < 100, "it goes on for ever");
    }
    panic!("a heap with room for {FEW} pairs has had 100000");
}

#[test]
fn a_nearly_full_heap_is_out_of_memory_after_a_few_collections() {
    for room in [FEW, A_REGION] {
        for (options, heap, pair) in each(ALL_DEAR) {
            heap.attach(|mutator| {
                let list = fill(mutator, pair, room);
                let (error, collections) = stall(&heap, mutator, pair);
                // Of the row, the heap had the first ones while it was filled.
                assert!((1..=3 * ENDS).contains(&collections), "{options}: {collections}");
                let overhead = error.gc_overhead().expect("there was room");
                assert!(overhead.exceeded && overhead.full_collections == GcOverhead::FULL_COLLECTIONS);
                assert!(overhead.free_percent() < 2.0, "{options}: {overhead:?}");
                assert_eq!(heap.collections().overhead_limits, 1);
                let last = heap.collections().recent.pop_back().expect("a collection");
                assert_eq!((last.kind(), last.overhead), (CollectionKind::Full, Some(*overhead)));
                assert!(keys(mutator, &list).len() > REGIONS * (REGION / PAIR_BYTES) - 2 * A_REGION as usize);
            })
            .unwrap();
            heap.verify().unwrap();
        }
    }
}

#[test]
fn the_error_says_why_and_what_to_do() {
    let (heap, pair) = heap("GCTimeLimit=0,GCHeapFreeLimit=3");
    let (error, collections) = heap
        .attach(|mutator| {
            let _list = fill(mutator, pair, FEW);
            stall(&heap, mutator, pair)
        })
        .unwrap();
    let text = error.to_string();
    let start = "out of memory: no room for 24 bytes in a heap of 262144 bytes: the collector takes ";
    assert!(text.starts_with(start), "{text}");
    let end = " % of the heap free: GC overhead limit (UseGCOverheadLimit, GCTimeLimit=0, GCHeapFreeLimit=3); a larger \
               MaxHeapSize would help";
    assert!(
        text.ends_with(end) && text.contains(" % of the time and leaves 0."),
        "{text} after {collections}"
    );
}

#[test]
fn without_the_limit_it_goes_on_for_ever() {
    for (options, heap, pair) in each("-UseGCOverheadLimit") {
        heap.attach(|mutator| {
            let _list = fill(mutator, pair, FEW);
            for _ in 0..40 * FEW {
                waste(mutator, pair).expect("each collection frees some");
            }
        })
        .unwrap();
        let collections = heap.collections();
        assert!(collections.count > 40 && collections.overhead_limits == 0, "{options}: {collections:?}");
        assert!(collections.recent.iter().all(|record| record.overhead.is_none()), "{options}");
    }
}

#[test]
fn each_further_failure_takes_one_collection_and_a_program_that_lets_go_gets_on() {
    for (options, heap, pair) in each(ALL_DEAR) {
        heap.attach(|mutator| {
            let list = fill(mutator, pair, FEW);
            assert!(stall(&heap, mutator, pair).0.gc_overhead().is_some(), "{options}");
            // Now the heap is full to the last byte.
            let more = root(mutator);
            for key in 0..10 * FEW {
                let before = heap.collections().count;
                if push(mutator, pair, &more, key).is_err() {
                    let collections = heap.collections().count - before;
                    assert_eq!(collections, 1, "{options}: {key}");
                }
            }
            drop(list);
            for key in 0..A_REGION * 30 {
                push(mutator, pair, &more, key).expect("half of the heap is free");
            }
            drop(more);
            for _ in 0..100_000 {
                waste(mutator, pair).expect("all of it is garbage");
            }
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn the_embedder_is_asked_first_and_the_count_begins_anew() {
    for (options, _, _) in each(ALL_DEAR) {
        let cache: Arc<Mutex<Vec<RootHandle>>> = Arc::default();
        let asked: Arc<Mutex<Vec<bool>>> = Arc::default();
        let (caches, heard) = (cache.clone(), asked.clone());
        let builder = Heap::builder().test_geometry(REGION, REGIONS).use_transparent_huge_pages(false);
        let builder = builder.on_heap_limit(move |error| {
            heard.lock().unwrap().push(error.gc_overhead().is_some());
            caches.lock().unwrap().pop().is_some()
        });
        let (heap, pair) = with_pairs(builder.options(&options).expect("options").build().expect("a heap"));
        heap.attach(|mutator| {
            let list = fill(mutator, pair, FEW);
            // Too little to end it, three times.
            for _ in 0..3 {
                let small = root(mutator);
                for key in 0..FEW / 10 {
                    push(mutator, pair, &small, key).expect("room");
                }
                cache.lock().unwrap().push(small);
            }
            asked.lock().unwrap().clear();
            let (_, collections) = stall(&heap, mutator, pair);
            assert_eq!(*asked.lock().unwrap(), [true; 4], "{options}");
            assert_eq!(heap.collections().overhead_limits, 4);
            assert!(collections > 3 * ENDS, "{options}: each time five anew, not {collections}");
            cache.lock().unwrap().push(list);
            for _ in 0..50_000 {
                waste(mutator, pair).expect("the hook dropped the list");
            }
            assert_eq!(*asked.lock().unwrap(), [true; 5], "{options}");
        })
        .unwrap();
        cache.lock().unwrap().clear();
    }
}

#[test]
fn several_threads_all_get_the_error_and_all_go_on() {
    const THREADS: usize = 4;
    for (options, heap, pair) in each(ALL_DEAR) {
        let failed = AtomicUsize::new(0);
        let list = Mutex::new(None);
        heap.attach(|mutator| *list.lock().unwrap() = Some(fill(mutator, pair, 10 * FEW))).unwrap();
        let before = heap.collections().count;
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    heap.attach(|mutator| {
                        // No thread lets go of anything before all threads have the error.
                        assert!(stall(&heap, mutator, pair).0.gc_overhead().is_some(), "{options}");
                        if failed.fetch_add(1, Ordering::Relaxed) + 1 == THREADS {
                            let collections = heap.collections().count - before;
                            assert!(
                                collections <= 3 * ENDS + 20 * THREADS as u64,
                                "{options}: {collections}"
                            );
                            *list.lock().unwrap() = None;
                        }
                        mutator.blocking(|| {
                            while failed.load(Ordering::Relaxed) < THREADS || list.lock().unwrap().is_some() {
                                std::thread::yield_now();
                            }
                        });
                        for _ in 0..5000 {
                            waste(mutator, pair).expect("all of it is garbage");
                        }
                    })
                    .unwrap();
                });
            }
        });
        heap.verify().unwrap();
    }
}

/// Lets the clock go on by [`VISIT`] each time that a collection visits roots.
struct Slow(Arc<AtomicU64>);

const VISIT: u64 = 40_000_000;

// SAFETY: it has no roots.
unsafe impl RootProvider for Slow {
    fn visit_roots(&self, _: &mut RootVisitor<'_, '_>) {
        self.0.fetch_add(VISIT, Ordering::Relaxed);
    }
}

/// The error of a nearly full heap with the usual limits, whose program runs for `running` ns
/// between two stops; `None` if no allocation failed.
fn stalls(collector: &str, running: u64) -> Option<OutOfMemory> {
    let now = Arc::new(AtomicU64::new(0));
    let clock = now.clone();
    let builder = Heap::builder().test_geometry(REGION, REGIONS).use_transparent_huge_pages(false);
    let builder = builder.clock(move || Duration::from_nanos(clock.load(Ordering::Relaxed)));
    let heap = builder.options(collector).expect("options").build().expect("a heap");
    let (heap, pair) = with_pairs(heap);
    heap.add_root_provider(Box::new(Slow(now.clone())));
    heap.attach(|mutator| {
        let _list = fill(mutator, pair, FEW);
        let mut stops = heap.metrics().stops.stops;
        (0..40 * FEW).find_map(|_| {
            let error = waste(mutator, pair).err();
            let done = heap.metrics().stops.stops;
            now.fetch_add((done - stops) * running, Ordering::Relaxed);
            stops = done;
            error
        })
    })
    .unwrap()
}

#[test]
fn a_program_that_has_time_to_run_is_left_alone() {
    for collector in COLLECTORS {
        // A collection asks twice for roots, and a stop has up to three.
        let error = stalls(collector, VISIT / 50).expect("99 % of the time");
        let overhead = error.gc_overhead().expect("there was room");
        assert!(overhead.time_percent() > 98.0, "{collector}: {overhead:?}");
        assert!(error.to_string().contains("GCTimeLimit=98, GCHeapFreeLimit=2"), "{error}");
        assert_eq!(stalls(collector, VISIT), None, "{collector}: less than 98 %");
    }
}

#[test]
fn collections_without_an_allocation_that_needs_them_do_not_count() {
    for (options, heap, pair) in each(ALL_DEAR) {
        heap.attach(|mutator| {
            let _list = fill(mutator, pair, A_REGION);
            for _ in 0..30 {
                assert!(mutator.collect());
                waste(mutator, pair).expect("a region is free");
            }
        })
        .unwrap();
        assert_eq!(heap.collections().overhead_limits, 0, "{options}");
    }
    const SMALL: usize = 16;
    for collector in COLLECTORS {
        for interval in [1, 3] {
            let options = format!("{collector},ParallelGCThreads=1,GCTimeLimit=0,ZealInterval={interval}");
            let builder = Heap::builder().test_geometry(REGION, SMALL).use_transparent_huge_pages(false);
            let heap = builder.options(&options).expect("options").build().expect("a heap");
            let (heap, pair) = with_pairs(heap);
            heap.attach(|mutator| {
                let list = root(mutator);
                // To the last pair, by the smallest steps: each may need room that only an
                // allocation's collection gives.
                let error = (0..).find_map(|key| push(mutator, pair, &list, key).err());
                assert!(error.expect("it is full").gc_overhead().is_none(), "{options}");
                assert_eq!(keys(mutator, &list).len(), SMALL * (REGION / PAIR_BYTES), "{options}");
            })
            .unwrap();
        }
    }
}

#[test]
fn much_garbage_is_enough_however_often_it_is_collected() {
    for options in [ALL_DEAR, "GCTimeLimit=0,ZealQuarantine=1000"] {
        for (options, heap, pair) in each(options) {
            heap.attach(|mutator| {
                let list = root(mutator);
                for key in 0..(REGIONS * 3 / 4 * (REGION / PAIR_BYTES)) as u64 {
                    push(mutator, pair, &list, key).expect("room");
                }
                for _ in 0..100_000 {
                    waste(mutator, pair).expect("all of it is garbage");
                }
            })
            .unwrap();
            let collections = heap.collections();
            assert!(collections.count > 20, "{options}: {collections:?}");
            assert!(collections.recent.iter().all(|record| record.overhead.is_some()), "{options}");
        }
    }
}

/// Holes that are too small for the next object do not count as room. Here each region has one
/// object of a little more than half of the region, and no other such object fits into the rest.
#[test]
fn holes_do_not_count_as_room_of_a_heap_of_large_objects() {
    // A region and the rest of one.
    for (options, heap, _) in each("GCTimeLimit=0,GCHeapFreeLimit=3") {
        let large = Shape::array("Large", 24, Element::Plain { bytes: 1 }).slot("next", 16, SlotKind::Strong);
        let large = heap.register(large).expect("a shape");
        heap.attach(|mutator| {
            let list = root(mutator);
            let allocate = |mutator: &mut Mutator<'_>, keep: bool| {
                // SAFETY: the shape is the heap's, and its slot is written; the root keeps the
                // object, or nothing uses it.
                unsafe {
                    let new = mutator.raw_mut().alloc_raw(large, REGION * 3 / 5)?;
                    mutator
                        .raw()
                        .store(new.as_ptr().byte_add(16).cast(), list.get(mutator).expect("of this heap"));
                    if keep {
                        list.set(mutator, new.as_ptr() as u64);
                    }
                }
                Ok::<(), OutOfMemory>(())
            };
            for _ in 1..REGIONS {
                allocate(mutator, true).expect("one for each region but one");
            }
            let error =
                (0..50).find_map(|_| allocate(mutator, false).err()).expect("each takes a collection");
            assert!(error.gc_overhead().is_some(), "{options}: {error}");
            // SAFETY: null refers to nothing.
            unsafe { list.set(mutator, 0) };
            for _ in 0..500 {
                allocate(mutator, false).expect("all of it is garbage");
            }
        })
        .unwrap();
    }
}
