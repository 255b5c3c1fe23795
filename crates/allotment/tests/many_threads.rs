//! A storm of threads: the memory that hundreds of idle threads hold, and heaps that are small for
//! so many.

use allotment::options::CollectorKind;
use allotment::raw::{PerObject, Shape, Site};
use allotment::stats::CollectionKind;
use allotment::{Field, Gc, Heap, Mutator, Object, OutOfMemory, alloc, root};
use std::sync::{Arc, Barrier, Mutex};

const THREADS: usize = 500;

#[test]
fn five_hundred_idle_threads_hold_at_most_64_kib_each() {
    let heap =
        Heap::builder().collector(CollectorKind::Epsilon).max_heap_size(1 << 30).build().expect("a heap");
    let shape = heap.register(Shape::fixed("Line", 64)).expect("a shape");
    let site: Site<64, PerObject> = Site::new(shape).expect("64 bytes");
    let (allocated, looked) = (Barrier::new(THREADS + 1), Barrier::new(THREADS + 1));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            let thread = std::thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, || {
                let objects = heap.attach(|mutator| {
                    // SAFETY: the shape is the heap's, and nobody uses the objects.
                    let objects =
                        (0..20_000 / 64).map_while(|_| unsafe { mutator.raw().try_alloc_raw(site) }).count();
                    allocated.wait();
                    looked.wait();
                    objects
                });
                assert_eq!(objects, Ok(20_000 / 64));
            });
            thread.expect("a thread");
        }
        allocated.wait();
        let (used, threads) = (heap.memory().used_bytes, heap.metrics().threads.now);
        looked.wait();
        assert_eq!(threads, THREADS);
        assert!(used < THREADS * (64 << 10), "{used} bytes");
    });
    assert_eq!(heap.metrics().threads.now, 0);
    assert_eq!(heap.verify().expect("parsable").objects(shape.id()), (THREADS * (20_000 / 64)) as u64);
}

#[test]
fn threads_that_come_and_go_leave_what_they_allocated() {
    let heap =
        Heap::builder().collector(CollectorKind::Epsilon).max_heap_size(64 << 20).build().expect("a heap");
    let shape = heap.register(Shape::fixed("Cell", 16)).expect("a shape");
    let site: Site<16, PerObject> = Site::new(shape).expect("16 bytes");
    for _ in 0..20 {
        std::thread::scope(|scope| {
            for _ in 0..50 {
                scope.spawn(|| {
                    // SAFETY: the shape is the heap's, and nobody uses the objects.
                    let object =
                        heap.attach(|mutator| unsafe { mutator.raw().try_alloc_raw(site) }.is_some());
                    assert_eq!(object, Ok(true));
                });
            }
        });
    }
    assert_eq!((heap.metrics().threads.now, heap.metrics().threads.ever), (0, 1000));
    let census = heap.verify().expect("parsable");
    assert_eq!(census.objects(shape.id()), 1000);
    // Less than a sixteenth of the heap, where a buffer for each of them would be a quarter.
    assert!(census.fillers.1 < 4 << 20, "{:?}", census.fillers);
}

/// The least heap there is: ten regions.
const LEAST: usize = 2560 << 10;

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
    key: u64,
    rest: [u64; 5],
}

fn node(next: Option<Gc<'_, Node>>, key: u64) -> NewNode<'_> {
    NewNode { next, key, rest: [key; 5] }
}

/// The keys of a list, first to last.
fn keys<'g>(mu: &'g Mutator<'_>, mut list: Option<Gc<'g, Node>>) -> Vec<u64> {
    let mut keys = Vec::new();
    while let Some(node) = list {
        assert_eq!(node.rest, [node.key; 5]);
        keys.push(node.key);
        list = node.next.load(mu);
    }
    keys
}

/// Runs `body` on that many threads that are attached to `heap`, each with its number. Returns
/// their results.
fn on_threads<R: Send>(
    heap: &Heap,
    threads: usize,
    body: impl Fn(&mut Mutator<'_>, usize) -> R + Sync,
) -> Vec<R> {
    std::thread::scope(|scope| {
        let body = &body;
        let start = |number| {
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            thread.spawn_scoped(scope, move || heap.attach(|mu| body(mu, number))).expect("a thread")
        };
        let threads: Vec<_> = (0..threads).map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic").expect("attached")).collect()
    })
}

/// The least buffers of so many threads are more than all of the heap, and more than their objects
/// are.
#[test]
fn a_heap_that_is_smaller_than_its_threads_buffers_is_not_out_of_memory() {
    const ROUNDS: u64 = 8;
    let kinds: Arc<Mutex<Vec<CollectionKind>>> = Arc::default();
    let to = kinds.clone();
    let heap = Heap::builder()
        .max_heap_size(LEAST)
        .on_collection(move |record| to.lock().expect("no panic").push(record.kind()))
        .options("Collector=parallel,MinTLABSize=16k,TLABSize=16k")
        .expect("options")
        .build()
        .expect("a heap");
    let together = Barrier::new(THREADS);
    let lists = on_threads(&heap, THREADS, |mu, number| {
        root!(mu, mut list = None);
        for round in 0..ROUNDS {
            let next = list.get(mu);
            let kept = alloc!(mu, node(next, round * 1000 + number as u64))?;
            list.set(mu, Some(kept));
            // Each of them has a buffer, if there is one.
            mu.blocking(|| together.wait());
            for key in 0..100 {
                alloc!(mu, node(None, key))?;
            }
        }
        Ok::<_, OutOfMemory>(keys(mu, list.get(mu)))
    });
    for (number, list) in lists.into_iter().enumerate() {
        let list = list.expect("what lives is a tenth of the heap");
        assert!(list.into_iter().eq((0..ROUNDS).rev().map(|round| round * 1000 + number as u64)));
    }
    assert!(kinds.lock().expect("no panic").contains(&CollectionKind::Young));
    heap.verify().expect("a heap in order");
}

#[test]
fn a_heap_that_is_too_small_for_what_its_threads_keep_tells_each_of_them() {
    const THREADS: usize = 200;
    // To the last byte, which so many threads come to by many collections that free little each.
    let heap = Heap::builder().max_heap_size(LEAST).use_gc_overhead_limit(false);
    let heap = heap.collector(CollectorKind::Parallel).build().expect("a heap");
    let together = Barrier::new(THREADS);
    let kept = on_threads(&heap, THREADS, |mu, number| {
        root!(mu, mut list = None);
        let mut length = 0;
        let error = loop {
            let next = list.get(mu);
            match alloc!(mu, node(next, number as u64)) {
                Ok(kept) => list.set(mu, Some(kept)),
                Err(error) => break error,
            }
            length += 1;
        };
        // No thread releases its objects before all threads have got the error.
        mu.blocking(|| together.wait());
        assert_eq!((error.bytes(), error.heap_bytes(), error.refused_by_system()), (64, LEAST, false));
        let keys = keys(mu, list.get(mu));
        assert!(keys.len() == length && keys.into_iter().all(|key| key == number as u64));
        // And then there is room.
        list.set(mu, None);
        mu.blocking(|| together.wait());
        assert!(alloc!(mu, node(None, 0)).is_ok());
        length
    });
    assert_eq!(kept.into_iter().sum::<usize>(), LEAST / 64, "the heap was full");
    heap.verify().expect("a heap in order");
}
