//! The threads that do a young collection of a heap in which mutators run: threads of the gang,
//! stopped threads that spin, or, with many threads, the gang beside the collecting thread.
//!
//! A trace function tells which thread worked: it is called on the thread that copied the object.
//! No single collection guarantees that a given thread is in time, so the test runs collections
//! until one was.

use super::heap;
use crate::Heap;
use crate::collector::CollectionKind;
use crate::mutator::{Mutator, PerObject, RootHandle, Site};
use crate::object::{Shape, ShapeRef, SlotVisitor, reference};
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// An event that a test waits for comes long before this time, or never.
const NEVER: Duration = Duration::from_secs(60);

/// Objects that were copied by a thread that never collects.
static BY_STOPPED: AtomicUsize = AtomicUsize::new(0);

/// Those that were copied by the second thread of a gang.
static BY_SECOND: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static NEVER_COLLECTS: Cell<bool> = const { Cell::new(false) };
}

/// # Safety
/// As for [`TraceFn`](crate::object::TraceFn).
unsafe fn trace(object: NonNull<u8>, slots: &mut SlotVisitor<'_>) {
    if NEVER_COLLECTS.get() {
        BY_STOPPED.fetch_add(1, Ordering::Relaxed);
    }
    if thread::current().name() == Some("allotment-gc-2") {
        BY_SECOND.fetch_add(1, Ordering::Relaxed);
    }
    slots.strong(object.as_ptr().wrapping_add(8).cast());
    slots.strong(object.as_ptr().wrapping_add(16).cast());
}

fn node(heap: &Heap) -> ShapeRef {
    heap.register(Shape::fixed("Node", 32).traced_by(trace).slots_never_change()).expect("a shape")
}

fn root(mutator: &Mutator<'_>) -> RootHandle {
    // SAFETY: null refers to nothing.
    unsafe { mutator.raw().new_root(0) }
}

/// Makes the memory a node over the two roots' referents; the first root then refers to it.
///
/// # Safety
/// - It is a new node, and there was no safepoint since.
unsafe fn join(mutator: &Mutator<'_>, new: NonNull<u8>, roots: [&RootHandle; 2], key: u64) {
    let words = new.cast::<u64>();
    // SAFETY: the slots and the key of the new node.
    unsafe {
        for (slot, root) in (1..).zip(roots) {
            mutator.raw().store(words.add(slot).as_ptr(), root.get(mutator).expect("of this heap"));
        }
        words.add(3).write(key);
        roots[0].set(mutator, new.as_ptr() as u64);
    }
}

/// A tree of this many levels.
fn tree(mutator: &mut Mutator<'_>, node: ShapeRef, levels: u64) -> RootHandle {
    if levels == 0 {
        return root(mutator);
    }
    let [left, right] = [(); 2].map(|()| tree(mutator, node, levels - 1));
    // SAFETY: the shape is the heap's, and the node is new.
    unsafe {
        let new = mutator.raw_mut().alloc_raw(node, 0).expect("little lives");
        join(mutator, new, [&left, &right], levels);
    }
    left
}

/// The nodes of a tree or list that begins with `key`; the keys below a node are one less.
fn nodes(mutator: &Mutator<'_>, bits: u64, key: u64) -> usize {
    let Some(address) = reference(bits) else { return 0 };
    let words = address as *const u64;
    // SAFETY: a live node.
    let (slots, found) =
        unsafe { ([1, 2].map(|slot| mutator.raw().load(words.add(slot))), words.add(3).read()) };
    assert_eq!(found, key);
    1 + slots.into_iter().map(|slot| nodes(mutator, slot, key - 1)).sum::<usize>()
}

/// Levels of the tree that lives through a collection.
const LEVELS: u64 = 9;

/// Collects trees, in a heap whose collections are all young, until it is `done`. Returns whether
/// it was done before the time ran out.
fn collect_until(heap: &Heap, node: ShapeRef, done: impl Fn() -> bool) -> bool {
    heap.attach(|mutator| {
        let begun = Instant::now();
        while !done() {
            if begun.elapsed() > NEVER {
                return false;
            }
            let tree = tree(mutator, node, LEVELS);
            let before = heap.collections().count;
            while heap.collections().count == before {
                // SAFETY: the shape is the heap's, and the node is not used.
                unsafe { mutator.raw_mut().alloc_raw(node, 0) }.expect("little lives");
            }
            assert_eq!(nodes(mutator, tree.get(mutator).expect("of this heap"), LEVELS), (1 << LEVELS) - 1);
        }
        let records = heap.collections().recent;
        assert!(records.iter().all(|record| record.kind() == CollectionKind::Young));
        true
    })
    .expect("not attached")
}

/// Sets the flag when it is dropped, so that no thread waits for one that panicked.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Allocates without ever collecting, and stops when it is asked to, until it is over.
fn stop_often(heap: &Heap, node: ShapeRef, over: &AtomicBool) {
    let site: Site<32, PerObject> = Site::new(node).expect("32 bytes");
    NEVER_COLLECTS.set(true);
    heap.attach(|mutator| {
        let (list, none) = (root(mutator), root(mutator));
        let mut length = 0;
        while !over.load(Ordering::Relaxed) {
            // SAFETY: the shape is the heap's.
            match unsafe { mutator.raw().try_alloc_raw(site) } {
                Some(new) => {
                    length += 1;
                    // SAFETY: the node is new.
                    unsafe { join(mutator, new, [&list, &none], length) };
                }
                None => mutator.safepoint(),
            }
            if length == 50 {
                let first = list.get(mutator).expect("of this heap");
                assert_eq!(nodes(mutator, first, length), 50);
                // SAFETY: null refers to nothing.
                unsafe { list.set(mutator, 0) };
                length = 0;
            }
        }
    })
    .expect("not attached");
}

#[test]
fn a_stopped_thread_that_looks_on_copies() {
    // No check before a collection: it lasts longer than any thread spins.
    let options = "Collector=parallel,ParallelGCThreads=2,-CollectWhenIdle,+VerifyAfterGC";
    let heap = heap(32768, 40, options);
    if heap.shared.space.topology.cores() == 1 {
        return eprintln!("one core: where there are two threads nobody looks on");
    }
    let (node, over) = (node(&heap), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| stop_often(&heap, node, &over));
        let _over = Over(&over);
        assert!(collect_until(&heap, node, || BY_STOPPED.load(Ordering::Relaxed) > 0));
    });
    heap.verify().expect("a heap in order");
}

#[test]
fn where_threads_are_many_the_gang_copies_beside_the_collecting_thread() {
    let options = "Collector=parallel,ParallelGCThreads=2,-CollectWhenIdle,+VerifyBeforeGC,+VerifyAfterGC";
    let heap = heap(32768, 40, options);
    let (node, others) = (node(&heap), heap.shared.space.topology.cores());
    let (attached, done) = (&Barrier::new(others + 1), &Barrier::new(others + 1));
    thread::scope(|scope| {
        let wait = || {
            attached.wait();
            done.wait();
        };
        for _ in 0..others {
            let heap = &heap;
            scope.spawn(move || heap.attach(|mutator| mutator.blocking(wait)).expect("not attached"));
        }
        attached.wait();
        // The first of its threads suffices for two workers. The second works only if the
        // collecting thread is not one of them.
        let second = collect_until(&heap, node, || BY_SECOND.load(Ordering::Relaxed) > 0);
        done.wait();
        assert!(second);
    });
    heap.verify().expect("a heap in order");
}
