//! A heap that is full but for a little garbage: its program is told, by the safe API.
//!
//! Collections are counted and not timed: with `GCTimeLimit=0` each takes too much of the time.

use allotment::{Field, Gc, Heap, Mutator, Object, OutOfMemory, alloc, root};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const HEAP: usize = 16 << 20;
/// Stops that a row takes, and collections that a stop has at most.
const ROW: u64 = 5;
const PER_STOP: u64 = 3;

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
    words: [u64; 6],
}

fn node<'m>(next: Option<Gc<'m, Node>>) -> NewNode<'m> {
    NewNode { next, words: [7; 6] }
}

fn heap(collector: &str, workers: usize, options: &str) -> Heap {
    let options = format!("Collector={collector},ParallelGCThreads={workers},{options}");
    Heap::builder().max_heap_size(HEAP).options(&options).expect("options").build().expect("a heap")
}

/// Allocates nodes without keeping them until there is no memory, or `most` of them. Returns the
/// error and the number of collections.
fn waste(heap: &Heap, mu: &mut Mutator<'_>, most: usize) -> (Option<OutOfMemory>, u64) {
    let before = heap.collections().count;
    let error = (0..most).find_map(|_| alloc!(mu, node(None)).err());
    (error, heap.collections().count - before)
}

/// Runs `then` in a heap that is full but for so many nodes, and again when all has been let go of.
fn in_nearly_full<R>(heap: &Heap, room: usize, then: impl FnOnce(&mut Mutator<'_>) -> R) -> R {
    heap.attach(|mu| {
        root!(mu, mut spare = None);
        root!(mu, mut list = None);
        for _ in 0..room {
            let next = spare.get(mu);
            let kept = alloc!(mu, node(next)).expect("the heap is empty");
            spare.set(mu, Some(kept));
        }
        let full = loop {
            let next = list.get(mu);
            match alloc!(mu, node(next)) {
                Ok(kept) => list.set(mu, Some(kept)),
                Err(error) => break error,
            }
        };
        assert!(full.gc_overhead().is_none(), "{full}");
        spare.set(mu, None);
        let result = then(mu);
        assert!(list.get(mu).is_some_and(|node| node.words == [7; 6]), "what lives is as it was");
        list.set(mu, None);
        let (error, _) = waste(heap, mu, 2 * HEAP / size_of::<Node>());
        assert!(error.is_none(), "all of it is garbage: {error:?}");
        result
    })
    .expect("attached to no heap")
}

#[test]
fn a_nearly_full_heap_ends_after_a_bounded_number_of_collections() {
    for collector in ["mark-compact", "parallel"] {
        for workers in [1, 2] {
            // 0.02 % and 1 % of the heap.
            for room in [HEAP / 5000 / 64, HEAP / 100 / 64] {
                let heap = heap(collector, workers, "GCTimeLimit=0");
                in_nearly_full(&heap, room, |mu| {
                    let (error, collections) = waste(&heap, mu, 100 * room);
                    let error = error.unwrap_or_else(|| panic!("{collector}: {collections} collections"));
                    assert!(error.to_string().contains("GC overhead limit (UseGCOverheadLimit"), "{error}");
                    assert!(collections <= ROW * PER_STOP, "{collector}, {workers}: {collections}");
                    let before = heap.collections().count;
                    alloc!(mu, node(None)).expect("what little there is, is for who handles the failure");
                    assert_eq!(heap.collections().count, before, "{collector}");
                    // A thread that goes on soon gets the error again.
                    let (error, collections) = waste(&heap, mu, 100 * room);
                    assert!(error.is_some() && collections <= PER_STOP, "{collector}: {collections}");
                });
                assert_eq!(heap.metrics().overhead_limits, 2);
                heap.verify().expect("a heap in order");
            }
        }
    }
}

/// Cycles that end in stops free a little each time. They count as time of collections, and a full
/// collection follows them.
#[test]
fn a_concurrent_collector_gives_up_as_well() {
    for mode in ["satb", "generational", "passive"] {
        for room in [HEAP / 5000 / 64, HEAP / 100 / 64] {
            let heap = heap("shenandoah", 2, &format!("ShenandoahGCMode={mode},GCTimeLimit=0"));
            in_nearly_full(&heap, room, |mu| {
                let (error, collections) = waste(&heap, mu, 100 * room);
                let error = error.unwrap_or_else(|| panic!("{mode}: {collections} collections"));
                assert!(error.to_string().contains("GC overhead limit (UseGCOverheadLimit"), "{error}");
                // A full collection of a stop may follow a cycle beside the thread, the cycle that
                // was under way, and a whole one.
                assert!(collections <= 2 * ROW * PER_STOP, "{mode}: {collections}");
            });
            assert!(heap.metrics().overhead_limits >= 1, "{mode}");
            heap.verify().expect("a heap in order");
        }
    }
}

#[test]
fn without_the_limit_it_makes_a_few_objects_at_a_time() {
    for collector in ["mark-compact", "parallel"] {
        let (heap, room) = (heap(collector, 2, "-UseGCOverheadLimit"), HEAP / 5000 / 64);
        in_nearly_full(&heap, room, |mu| {
            let (error, collections) = waste(&heap, mu, 10 * room);
            assert!(error.is_none() && collections > ROW, "{collector}: {collections}, {error:?}");
        });
        assert_eq!(heap.metrics().overhead_limits, 0);
    }
}

#[test]
fn several_threads_are_told() {
    const THREADS: usize = 3;
    for collector in ["mark-compact", "parallel"] {
        let heap = heap(collector, 2, "GCTimeLimit=0");
        let told = Mutex::new(0);
        in_nearly_full(&heap, HEAP / 200 / 64, |mu| {
            mu.blocking(|| {
                std::thread::scope(|scope| {
                    for _ in 0..THREADS {
                        scope.spawn(|| {
                            let (error, _) =
                                heap.attach(|mu| waste(&heap, mu, HEAP)).expect("attached to none");
                            *told.lock().unwrap() +=
                                usize::from(error.is_some_and(|error| error.gc_overhead().is_some()));
                        });
                    }
                });
            });
        });
        assert_eq!(*told.lock().unwrap(), THREADS, "{collector}");
    }
}

#[test]
fn the_embedder_is_asked_before_the_program_is_told() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let builder = Heap::builder().max_heap_size(HEAP).gc_time_limit(0).on_heap_limit(|error| {
        // The first question is about the full heap, from which the hook does not rescue.
        error.gc_overhead().is_some() && ASKED.fetch_add(1, Ordering::Relaxed) == 0
    });
    let heap = builder.build().expect("a heap");
    let room = HEAP / 5000 / 64;
    in_nearly_full(&heap, room, |mu| {
        let (error, _) = waste(&heap, mu, 100 * room);
        assert!(error.expect("it let nothing go").gc_overhead().is_some());
    });
    assert_eq!((ASKED.load(Ordering::Relaxed), heap.metrics().overhead_limits), (2, 2));
}
