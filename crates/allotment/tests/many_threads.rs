//! A storm of threads: what hundreds of them hold while they do nothing.

use allotment::Heap;
use allotment::mutator::{PerObject, Site};
use allotment::object::Shape;
use allotment::options::CollectorKind;
use std::sync::Barrier;

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
                        (0..20_000 / 64).map_while(|_| unsafe { mutator.try_alloc_raw(site) }).count();
                    allocated.wait();
                    looked.wait();
                    objects
                });
                assert_eq!(objects, Ok(20_000 / 64));
            });
            thread.expect("a thread");
        }
        allocated.wait();
        let (used, threads) = (heap.memory().used_bytes, heap.attachments().now);
        looked.wait();
        assert_eq!(threads, THREADS);
        assert!(used < THREADS * (64 << 10), "{used} bytes");
    });
    assert_eq!(heap.attachments().now, 0);
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
                    let object = heap.attach(|mutator| unsafe { mutator.try_alloc_raw(site) }.is_some());
                    assert_eq!(object, Ok(true));
                });
            }
        });
    }
    assert_eq!((heap.attachments().now, heap.attachments().ever), (0, 1000));
    let census = heap.verify().expect("parsable");
    assert_eq!(census.objects(shape.id()), 1000);
    // Less than a sixteenth of the heap, where a buffer for each of them would be a quarter.
    assert!(census.fillers.1 < 4 << 20, "{:?}", census.fillers);
}
