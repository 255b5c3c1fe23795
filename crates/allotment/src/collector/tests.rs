//! Heaps that collect, through the low-level interface.

mod log;
mod overhead;
mod space;

use super::CollectionKind;
use crate::Heap;
use crate::mutator::{Cause, Mutator, OutOfMemory, RootHandle, RootProvider, RootVisitor};
use crate::object::{Shape, ShapeRef, SlotKind, reference};
use crate::options::CollectorKind;
use crate::tlab::statistics::TlabTotals;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(super) const REGION: usize = 4096;
pub(super) const PAIR_BYTES: usize = 24;

fn heap(regions: usize) -> (Heap, ShapeRef) {
    heap_of(CollectorKind::MarkCompact, regions)
}

fn heap_of(collector: CollectorKind, regions: usize) -> (Heap, ShapeRef) {
    let builder = Heap::builder().test_geometry(REGION, regions).use_transparent_huge_pages(false);
    with_pairs(builder.collector(collector).build().expect("a heap"))
}

pub(super) fn with_pairs(heap: Heap) -> (Heap, ShapeRef) {
    let pair = Shape::fixed("Pair", PAIR_BYTES).slot("next", 8, SlotKind::Strong);
    let pair = heap.register(pair).expect("a shape");
    (heap, pair)
}

/// Puts a pair with this key before the list.
pub(super) fn push(
    mutator: &mut Mutator<'_>,
    pair: ShapeRef,
    list: &RootHandle,
    key: u64,
) -> Result<(), OutOfMemory> {
    // SAFETY: the shape is the heap's; both words are slots or data of the new pair.
    unsafe {
        let new = mutator.raw_mut().alloc_raw(pair, 0)?;
        mutator.raw().store(new.as_ptr().byte_add(8).cast(), list.get(mutator).expect("of this heap"));
        new.byte_add(16).cast::<u64>().write(key);
        list.set(mutator, new.as_ptr() as u64);
    }
    Ok(())
}

pub(super) fn keys(mutator: &Mutator<'_>, list: &RootHandle) -> Vec<u64> {
    let mut at = list.get(mutator).expect("of this heap");
    let mut keys = Vec::new();
    while let Some(address) = reference(at) {
        // SAFETY: a live pair.
        unsafe {
            keys.push((address as *const u64).add(2).read());
            at = mutator.raw().load((address as *const u64).add(1));
        }
    }
    keys
}

pub(super) fn root(mutator: &Mutator<'_>) -> RootHandle {
    // SAFETY: null refers to nothing.
    unsafe { mutator.raw().new_root(0) }
}

#[test]
fn garbage_is_collected_for_ever_and_the_living_stay() {
    let (heap, pair) = heap(16);
    heap.attach(|mutator| {
        let list = root(mutator);
        let mut kept = Vec::new();
        for key in 0..100_000 {
            // SAFETY: the shape is the heap's, and the pair is not used.
            unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("all but the list is garbage");
            if key % 1000 == 0 {
                push(mutator, pair, &list, key).expect("room");
                kept.insert(0, key);
            }
        }
        assert_eq!(keys(mutator, &list), kept);
    })
    .unwrap();
    let collections = heap.collections();
    assert!(collections.count >= 100_000 * 24 / (16 * 4096), "{}", collections.count);
    assert_eq!(collections.pauses.count(), collections.count);
    let last = collections.recent.back().expect("a collection");
    assert_eq!(
        (last.number + 1, last.kind(), last.cause),
        (collections.count, CollectionKind::Full, Cause::AllocationFailure)
    );
    assert!(last.live_objects <= 100 && last.live_bytes == last.live_objects * PAIR_BYTES);
    assert!(last.used_before > last.used_after && last.pause >= last.time_to_safepoint);
    heap.verify().unwrap();
}

#[test]
fn a_heap_full_of_living_objects_says_so_and_goes_on_when_some_die() {
    let (heap, pair) = heap(16);
    heap.attach(|mutator| {
        let list = root(mutator);
        let mut length = 0;
        let error = loop {
            match push(mutator, pair, &list, length) {
                Ok(()) => length += 1,
                Err(error) => break error,
            }
        };
        assert_eq!((error.bytes(), error.heap_bytes()), (PAIR_BYTES, 16 * REGION));
        // Objects do not straddle regions: a region holds 170 pairs.
        assert_eq!(length, 16 * (REGION / PAIR_BYTES) as u64);
        assert_eq!(keys(mutator, &list).len() as u64, length);
        drop(list);
        let list = root(mutator);
        push(mutator, pair, &list, 1).expect("all else is garbage");
    })
    .unwrap();
    heap.verify().unwrap();
}

#[test]
fn at_the_limit_the_embedder_is_asked_to_let_go() {
    let cache: Arc<Mutex<Vec<RootHandle>>> = Arc::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let builder = Heap::builder().test_geometry(REGION, 16).use_transparent_huge_pages(false);
    let (caches, count) = (cache.clone(), asked.clone());
    let builder = builder.on_heap_limit(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        caches.lock().unwrap().pop().is_some()
    });
    let (heap, pair) = with_pairs(builder.build().expect("a heap"));
    heap.attach(|mutator| {
        for _ in 0..4 {
            let list = root(mutator);
            cache.lock().unwrap().push(list);
        }
        let mut pushed = 0;
        for key in 0..16 * 170 {
            let lists = cache.lock().unwrap().len();
            let list = cache.lock().unwrap().remove(key as usize % lists);
            let outcome = push(mutator, pair, &list, key);
            cache.lock().unwrap().insert(0, list);
            pushed += u64::from(outcome.is_ok());
        }
        assert_eq!((pushed, asked.load(Ordering::Relaxed)), (16 * 170, 0), "they fit exactly");
        let list = root(mutator);
        push(mutator, pair, &list, 0).expect("the hook dropped a list");
        assert_eq!((asked.load(Ordering::Relaxed), cache.lock().unwrap().len()), (1, 3));
        cache.lock().unwrap().clear();
    })
    .unwrap();
}

#[test]
fn threads_collect_for_each_other() {
    const THREADS: u64 = 4;
    let (heap, pair) = heap(64);
    let asked = heap.clone();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let heap = &heap;
            scope.spawn(move || {
                heap.attach(|mutator| {
                    let list = root(mutator);
                    for key in 0..20_000 {
                        // SAFETY: the shape is the heap's, and the pair is not used.
                        unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("room");
                        if key % 100 == 0 {
                            push(mutator, pair, &list, key * THREADS + thread).expect("room");
                        }
                        if key % 5000 == 0 {
                            mutator.blocking(std::thread::yield_now);
                            assert!(mutator.collect());
                        }
                    }
                    let expected = (0..20_000).rev().filter(|key| key % 100 == 0);
                    assert!(keys(mutator, &list).into_iter().eq(expected.map(|key| key * THREADS + thread)));
                })
                .unwrap();
            });
        }
    });
    assert!(asked.collections().count > 0);
    asked.verify().unwrap();
}

/// Regression: a caller that asked for a collection was satisfied with the first stop, although
/// that stop collected nothing.
#[test]
fn a_requested_collection_runs_despite_other_stops() {
    for collector in [CollectorKind::MarkCompact, CollectorKind::Parallel] {
        let (heap, _) = heap_of(collector, 32);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    heap.stop_the_world(|_| {}).expect("this thread is attached to none");
                }
            });
            let done = heap.attach(|mutator| {
                (0..500).all(|_| {
                    let before = heap.collections().count;
                    mutator.collect() && heap.collections().count > before
                })
            });
            over.store(true, Ordering::Relaxed);
            assert!(done.unwrap(), "{collector:?}");
        });
    }
}

/// No thread is in `blocking`, so that the world is not stopped before each has asked.
#[test]
fn one_collection_serves_all_threads_that_ask_at_the_same_time() {
    const THREADS: usize = 4;
    for collector in [CollectorKind::MarkCompact, CollectorKind::Parallel] {
        let (heap, _) = heap_of(collector, 32);
        for round in 1..=50 {
            let ready = AtomicUsize::new(0);
            let ask = |mutator: &mut Mutator<'_>| {
                ready.fetch_add(1, Ordering::Relaxed);
                while ready.load(Ordering::Relaxed) < THREADS {
                    std::thread::yield_now();
                }
                mutator.collect()
            };
            std::thread::scope(|scope| {
                let asked: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| heap.attach(ask))).collect();
                assert!(asked.into_iter().all(|thread| thread.join().unwrap().unwrap()));
            });
            assert_eq!(heap.collections().count, round, "{collector:?}");
        }
    }
}

#[test]
fn listeners_hear_of_every_collection() {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let lines = heard.clone();
    let builder = Heap::builder().test_geometry(REGION, 16).use_transparent_huge_pages(false);
    let heap =
        builder.on_collection(move |record| lines.lock().unwrap().push(record.to_string())).build().unwrap();
    heap.attach(|mutator| {
        assert!(mutator.collect());
        assert!(mutator.collect());
    })
    .unwrap();
    let heard = heard.lock().unwrap();
    assert_eq!(heard.len(), 2);
    assert!(heard[1].starts_with("GC(1) Pause Full (Requested) 0M->0M(0M) "), "{}", heard[1]);
}

#[test]
fn a_record_counts_buffers_since_the_previous_collection() {
    for collector in [CollectorKind::MarkCompact, CollectorKind::Parallel] {
        let (heap, pair) = heap_of(collector, 64);
        let waste = |mutator: &mut Mutator<'_>, pairs: usize| {
            for _ in 0..pairs {
                // SAFETY: the shape is the heap's, and the pair is not used.
                unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("all of it is garbage");
            }
        };
        let last = || heap.collections().recent.pop_back().expect("a collection");
        heap.attach(|mutator| {
            // The other thread takes more buffers, and has detached before the collection.
            mutator.blocking(|| {
                std::thread::scope(|scope| scope.spawn(|| heap.attach(|other| waste(other, 1000))).join())
                    .unwrap()
                    .unwrap();
            });
            waste(mutator, 1);
            assert_eq!(heap.collections().count, 0);
            assert!(mutator.collect());
            let (first, totals) = (last(), heap.tlab_totals());
            assert_eq!((first.buffers, first.buffers.threads), (totals, 2), "{collector:?}");
            assert!(totals.max.refills > 1 && totals.max.refills < totals.sum.refills);
            assert!(first.detail_lines().contains(&format!("GC(0) {totals}")), "{:?}", first.detail_lines());
            // Buffers that one record counted are not counted again.
            waste(mutator, 1);
            assert!(mutator.collect());
            let second = last().buffers;
            assert_eq!((second.sum, second.threads), (heap.tlab_totals().sum.since(&totals.sum), 1));
            assert!(second.sum.refills > 0 && second.max == second.sum, "{second:?}");
            waste(mutator, 1);
        })
        .unwrap();
        heap.reset().expect("no thread is attached, and nothing is rooted");
        assert_eq!(heap.attach(|mutator| mutator.collect()), Ok(true));
        assert_eq!(last().buffers, TlabTotals::default(), "of before the reset");
    }
}

#[test]
fn epsilon_says_that_it_does_not_collect() {
    let heap = Heap::builder().max_heap_size(16 << 20).options("Collector=epsilon").unwrap().build().unwrap();
    assert_eq!(heap.attach(|mutator| mutator.collect()), Ok(false));
    assert_eq!(heap.collections().count, 0);
}

#[test]
fn a_large_heap_is_not_filled_before_it_is_collected() {
    let options = "Collector=mark-compact,InitialHeapSize=1m,MaxHeapSize=256m,-UseTransparentHugePages";
    let (heap, pair) = with_pairs(Heap::builder().options(options).unwrap().build().unwrap());
    heap.attach(|mutator| {
        let list = root(mutator);
        for key in 0..1_000_000 {
            // SAFETY: the shape is the heap's, and the pair is not used.
            unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("room");
            if key < 100_000 {
                push(mutator, pair, &list, key).expect("room");
            }
        }
        // 2.4 MB live, so about 5 MB of capacity, in regions of 256 KiB.
        assert!(heap.memory().committed_bytes < 12 << 20, "{:?}", heap.memory());
        assert!(heap.collections().count >= 5, "{}", heap.collections().count);
        // The heap gets the memory that it needs.
        for key in 0..4_000_000 {
            push(mutator, pair, &list, key).expect("room in 256 MiB");
        }
    })
    .unwrap();
    heap.verify().unwrap();
}

/// Unwinds at the last of this many calls.
struct Unwinding(AtomicUsize);

// SAFETY: it has no roots; that it unwinds is the test.
unsafe impl RootProvider for Unwinding {
    fn visit_roots(&self, _: &mut RootVisitor<'_, '_>) {
        if self.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            std::panic::resume_unwind(Box::new("out"));
        }
    }
}

#[test]
fn whatever_unwinds_in_a_collection_ends_the_process_with_one_line() {
    const CHILD: &str = "ALLOTMENT_TEST_UNWINDS_IN_A_COLLECTION";
    if let Some(visit) = std::env::var_os(CHILD).and_then(|visit| visit.to_str()?.parse().ok()) {
        let heap = heap(16).0;
        heap.add_root_provider(Box::new(Unwinding(AtomicUsize::new(visit))));
        assert!(heap.attach(|mutator| mutator.collect()).expect("attached"));
        return;
    }
    let this = "collector::tests::whatever_unwinds_in_a_collection_ends_the_process_with_one_line";
    let collects = |visit: usize| {
        let mut program = crate::own_program();
        program.args(["--exact", this, "--nocapture"]).env(CHILD, visit.to_string());
        let output = program.output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("allotment: ")).collect();
        // SIGABRT.
        let ended = output.status.signal() == Some(6)
            && matches!(lines[..], [line] if line.contains("while the world was stopped panicked"));
        assert!(ended || output.status.success() && lines.is_empty(), "visit {visit}: {text}");
        !ended
    };
    // The provider is called for roots and pins to mark from, and for the roots to update: before
    // the heap changes, and in the middle of the change.
    assert_eq!((1..=4).map(collects).collect::<Vec<_>>(), [false, false, false, true]);
}
