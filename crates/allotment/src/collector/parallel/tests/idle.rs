//! Collections while no mutator runs: when they come, when they must not come, and the end of the
//! control thread.

use super::{heap_of, kinds, waste};
use crate::Heap;
use crate::collector::record::IdleLook;
use crate::collector::tests::{REGION, keys, push, root, with_pairs};
use crate::collector::{CollectionKind, CollectionRecord};
use crate::mutator::Cause;
use crate::object::ShapeRef;
use crate::platform::Clock;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A time limit: an expected event comes long before it, or never.
const NEVER: Duration = Duration::from_secs(60);

/// A heap of small regions. Its clock is so fast that the control thread looks at every eden.
fn heap(regions: usize, options: &str) -> (Heap, ShapeRef, Arc<Mutex<Vec<CollectionRecord>>>) {
    heap_of(Heap::builder().clock(Clock::fast()), regions, options)
}

/// Whether one of them is a collection of an idle time.
fn has_idle(records: &Mutex<Vec<CollectionRecord>>) -> bool {
    records.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|record| record.cause == Cause::Idle)
}

/// The note of the moment when the last part of eden was opened.
fn look(record: &CollectionRecord) -> Option<IdleLook> {
    record.sizing.as_ref().and_then(|sizing| sizing.last_part).map(|part| part.look)
}

/// Allocates `objects` objects at a time and sleeps in between, until `done` or too late. Returns
/// whether it was done.
fn now_and_then(heap: &Heap, pair: ShapeRef, objects: usize, mut done: impl FnMut() -> bool) -> bool {
    heap.attach(|mutator| {
        let list = root(mutator);
        let begun = Instant::now();
        let mut kept = Vec::new();
        while !done() {
            if begun.elapsed() > NEVER {
                return false;
            }
            kept.insert(0, kept.len() as u64);
            push(mutator, pair, &list, kept.len() as u64 - 1).expect("room");
            (0..objects).for_each(|_| waste(mutator, pair));
            mutator.blocking(|| thread::sleep(Duration::from_millis(3)));
        }
        assert_eq!(keys(mutator, &list), kept);
        true
    })
    .unwrap()
}

#[test]
fn an_eden_that_is_nearly_full_is_collected_while_its_threads_block() {
    for workers in [1, 3] {
        let (heap, pair, records) = heap(64, &format!("ParallelGCThreads={workers}"));
        assert!(now_and_then(&heap, pair, 100, || has_idle(&records)));
        let young = |record: &CollectionRecord| record.kind() == CollectionKind::Young;
        assert!(records.lock().unwrap().iter().filter(|record| record.cause == Cause::Idle).all(young));
        let looked = |record: &CollectionRecord| look(record) == Some(IdleLook::Began);
        assert!(records.lock().unwrap().iter().filter(|record| record.cause == Cause::Idle).all(looked));
        heap.verify().unwrap();
    }
}

#[test]
fn no_idle_collection_while_a_thread_runs() {
    let (heap, pair, records) = heap(64, "");
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        let other = &heap;
        scope.spawn(move || other.attach(|mutator| mutator.blocking(|| ended.recv())).unwrap());
        heap.attach(|mutator| {
            while records.lock().unwrap().len() < 20 {
                waste(mutator, pair);
            }
        })
        .unwrap();
        assert!(!has_idle(&records), "{:?}", kinds(&records));
        drop(end);
    });
}

#[test]
fn a_heap_is_idle_if_it_has_threads_and_all_of_them_block() {
    let (heap, ..) = heap(64, "");
    let registry = &heap.shared.threads.registry;
    assert!(!registry.is_idle(), "a heap without attached threads is not idle");
    heap.attach(|mutator| {
        assert!(!registry.is_idle());
        assert!(mutator.blocking(|| registry.is_idle()));
        thread::scope(|scope| {
            let (begin, begun) = channel();
            let (end, ended) = channel::<()>();
            let other = &heap;
            scope.spawn(move || {
                other.attach(|_| {
                    begin.send(()).unwrap();
                    ended.recv()
                })
            });
            begun.recv().unwrap();
            assert!(!mutator.blocking(|| registry.is_idle()));
            drop(end);
        });
        mutator
            .raw_mut()
            .stop_the_world(|_| assert!(!registry.is_idle(), "the thread that stops the world runs"));
    })
    .unwrap();
}

#[test]
fn without_the_option_collections_wait_until_there_is_no_room() {
    let (heap, pair, records) = heap(64, "-CollectWhenIdle");
    assert!(now_and_then(&heap, pair, 100, || records.lock().unwrap().len() > 2));
    assert!(kinds(&records).iter().all(|one| one.1 == Cause::AllocationFailure));
    assert!(records.lock().unwrap().iter().all(|record| look(record).is_none()), "nothing is kept back");
}

/// Allocates garbage until eden is nearly full and the control thread begins to look.
fn until_the_thread_looks(heap: &Heap, pair: ShapeRef, records: &Mutex<Vec<CollectionRecord>>) {
    heap.attach(|mutator| {
        let before = records.lock().unwrap().len();
        while records.lock().unwrap().len() == before {
            waste(mutator, pair);
        }
        let (in_use, eden) = {
            let records = records.lock().unwrap();
            let last = records.last().expect("there was one just now");
            let sizing = last.sizing.as_ref().expect("a generational collection decides on sizes");
            (last.used_after / REGION, sizing.decision.eden_regions)
        };
        while heap.memory().used_bytes < (in_use + eden * 31 / 32) * REGION {
            waste(mutator, pair);
        }
    })
    .unwrap();
}

#[test]
fn a_heap_is_dropped_while_the_thread_looks() {
    for round in 0..20 {
        let (heap, pair, records) = heap(64, "");
        until_the_thread_looks(&heap, pair, &records);
        thread::sleep(Duration::from_micros(200 * round));
    }
}

#[test]
fn a_heap_is_emptied_while_the_thread_looks() {
    let (heap, pair, records) = heap(64, "");
    for round in 0..20 {
        until_the_thread_looks(&heap, pair, &records);
        thread::sleep(Duration::from_micros(200 * round));
        heap.reset().expect("no thread is attached, and nothing is rooted");
        assert_eq!(heap.memory().used_bytes, 0);
    }
    heap.verify().unwrap();
}

/// Sends the name of the thread that drops it.
struct Sign(Sender<Option<String>>);

impl Drop for Sign {
    fn drop(&mut self) {
        let _ = self.0.send(thread::current().name().map(str::to_string));
    }
}

#[test]
fn the_thread_that_looks_may_have_the_last_reference_to_a_heap() {
    let (collected, collects) = channel();
    let (dropped, drops) = channel();
    let (gone, goes) = channel();
    let (sign, drops) = (Sign(gone), Mutex::new(drops));
    let heap = Heap::builder()
        .on_collection(move |record| {
            let _sign = &sign;
            if record.cause == Cause::Idle && collected.send(()).is_ok() {
                drops.lock().unwrap().recv().expect("the other end lasts until the heap is dropped");
            }
        })
        .options("Collector=parallel,MaxHeapSize=64m,NewSize=8m,MaxNewSize=8m")
        .unwrap()
        .build()
        .unwrap();
    let (heap, pair) = with_pairs(heap);
    assert!(now_and_then(&heap, pair, 2000, || collects.try_recv().is_ok()));
    drop(heap);
    dropped.send(()).unwrap();
    let place = goes.recv_timeout(NEVER).expect("the heap is never dropped");
    assert_eq!(place.as_deref(), Some("allotment-idle"));
}

#[test]
fn a_listener_that_panics_ends_the_looking_and_nothing_else() {
    let idle = Arc::new(Mutex::new(0));
    let count = idle.clone();
    let heap = Heap::builder()
        .on_collection(move |record| {
            if record.cause == Cause::Idle {
                *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                panic!("a listener of a test");
            }
        })
        .options("Collector=parallel,MaxHeapSize=64m,NewSize=4m,MaxNewSize=4m,+VerifyAfterGC")
        .unwrap()
        .build()
        .unwrap();
    let (heap, pair) = with_pairs(heap);
    assert!(now_and_then(&heap, pair, 1000, || *idle.lock().unwrap_or_else(PoisonError::into_inner) > 0));
    let before = heap.collections().count;
    heap.attach(|mutator| {
        while heap.collections().count < before + 5 {
            (0..10_000).for_each(|_| waste(mutator, pair));
        }
    })
    .unwrap();
}
