//! Threads that ask for a collection at the same time share one, with each collector.

use allotment::{Heap, Mutator, NewStr, WeakRoot, alloc};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

const THREADS: usize = 16;

const HEAPS: [&str; 5] = [
    "Collector=mark-compact",
    "Collector=parallel",
    "Collector=shenandoah",
    "Collector=shenandoah,ShenandoahGCMode=generational",
    "Collector=shenandoah,ShenandoahGCMode=passive",
];

fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(16 << 20).options(options).expect("options");
    builder.build().expect("a heap")
}

/// Lets each of the threads allocate something, wait for the others by `wait`, and ask for a
/// collection. Meanwhile this thread does `beside`. Returns the number of collections.
fn collections(options: &str, wait: impl Fn(&mut Mutator<'_>) + Sync, beside: impl Fn(&Heap)) -> u64 {
    let heap = heap(options);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                heap.attach(|mu| {
                    let text = alloc!(mu, NewStr::from("garbage")).expect("room");
                    let weak = WeakRoot::new(mu, text);
                    wait(mu);
                    assert!(mu.collect(), "{options}");
                    assert!(weak.get(mu).is_none(), "{options}: the collection began after the request");
                })
                .expect("attached to no heap");
            });
        }
        beside(&heap);
    });
    heap.collections().count
}

#[test]
fn threads_that_run_and_ask_at_once_get_one_collection_or_two() {
    for options in HEAPS {
        let arrived = AtomicUsize::new(0);
        let wait = |_: &mut Mutator<'_>| {
            arrived.fetch_add(1, Ordering::Relaxed);
            // No safepoint: no thread stops the world before all have arrived.
            while arrived.load(Ordering::Relaxed) < THREADS {
                std::thread::yield_now();
            }
        };
        let count = collections(options, wait, |_| ());
        assert!((1..=2).contains(&count), "{options}: {count} collections");
    }
}

/// A stop holds all threads, and they ask when it ends. The first stop for a collection waits until
/// the others have gone on, for a time. On a crowded machine this may be too short, so the best of
/// some attempts counts.
#[test]
fn threads_that_a_stop_held_and_that_ask_then_get_a_few() {
    for options in HEAPS {
        let attempt = || {
            let (blocking, back, stopped) =
                (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
            let wait = |mu: &mut Mutator<'_>| {
                mu.blocking(|| {
                    blocking.fetch_add(1, Ordering::Relaxed);
                    until(|| stopped.load(Ordering::Relaxed));
                    back.fetch_add(1, Ordering::Relaxed);
                });
            };
            let beside = |heap: &Heap| {
                until(|| blocking.load(Ordering::Relaxed) == THREADS);
                let held = heap.stop_the_world(|_| {
                    stopped.store(true, Ordering::Relaxed);
                    until(|| back.load(Ordering::Relaxed) == THREADS);
                    // The last ones come to the end of `blocking`.
                    std::thread::sleep(Duration::from_millis(5));
                });
                assert!(matches!(held, Ok(Some(()))), "no other thread stops the world");
            };
            collections(options, wait, beside)
        };
        let least = (0..5).map(|_| attempt()).min().expect("attempts");
        assert!((1..=4).contains(&least), "{options}: {least} collections");
    }
}

/// Waits until `happens` returns true.
fn until(happens: impl Fn() -> bool) {
    while !happens() {
        std::thread::yield_now();
    }
}
