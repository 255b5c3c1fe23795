//! Safe code against the parts of a heap that programs share: resets, hooks that panic.
#![forbid(unsafe_code)]

mod api_common;

use allotment::heap::ResetError;
use allotment::{Heap, NewSlots, NewStr, OutOfMemory, Root, WeakRoot, alloc, root};
use api_common::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A root would refer to an object that is no more, and then to one of another type.
#[test]
fn a_heap_is_not_reset_under_a_root() {
    let heap = heap();
    let (root, weak) = heap
        .attach(|mu| {
            let object = alloc!(mu, node(7)).unwrap();
            (Root::new(mu, object), WeakRoot::new(mu, object))
        })
        .unwrap();
    let copy = root.clone();
    assert_eq!(heap.reset(), Err(ResetError::Rooted { roots: 2 }));
    drop(copy);
    assert_eq!(heap.reset(), Err(ResetError::Rooted { roots: 1 }));
    assert_eq!(heap.attach(|mu| root.get(mu).key), Ok(7));
    assert_eq!(heap.attach(|mu| weak.get(mu).map(|object| object.key)), Ok(Some(7)));
    drop(root);
    // Neither refers to an object.
    let none = heap.attach(|mu| (Root::new(mu, Val::Int(3)), WeakRoot::new(mu, Val::Int(4)))).unwrap();
    assert_eq!(heap.reset(), Ok(()));
    heap.attach(|mu| {
        alloc!(mu, NewStr::from("in its place")).unwrap();
        assert!(weak.get(mu).is_none());
        assert_eq!((none.0.get(mu), none.1.get(mu)), (Val::Int(3), Some(Val::Int(4))));
    })
    .unwrap();
}

/// The memory that a collection found for an allocation was left as it was when the hook unwound.
#[test]
fn a_hook_that_panics_leaves_a_heap_in_order() {
    let collections = Arc::new(AtomicUsize::new(0));
    let seen = collections.clone();
    let heap = Heap::builder()
        .max_heap_size(4 << 20)
        .on_collection(move |_| {
            if seen.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
                panic!("a hook of the test");
            }
        })
        .options("+ZealPoison,+VerifyBeforeGC,+VerifyAfterGC")
        .unwrap()
        .build()
        .unwrap();
    heap.attach(|mu| {
        root!(mu, kept = alloc!(mu, node(5)).unwrap());
        for _ in 0..3 {
            let end = catch_unwind(AssertUnwindSafe(|| -> Result<(), OutOfMemory> {
                loop {
                    alloc!(mu, node(1))?;
                }
            }));
            assert!(end.is_err());
        }
        assert_eq!(kept.get(mu).key, 5);
    })
    .unwrap();
    assert!(collections.load(Ordering::Relaxed) >= 6);
    heap.verify().unwrap();
}

/// A region that a collection wants to move objects to was taken from under it.
#[test]
fn regions_are_not_uncommitted_under_a_collection() {
    let heap =
        Heap::builder().max_heap_size(32 << 20).options("+ZealMove,+VerifyAfterGC").unwrap().build().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let mut bytes = 0;
            while !done.load(Ordering::Relaxed) {
                bytes += heap.uncommit();
                std::hint::black_box(heap.memory());
            }
            bytes
        });
        for _ in 0..15 {
            heap.attach(|mu| {
                root!(mu, mut list = alloc!(mu, node(0)).unwrap());
                for key in 1..30_000 {
                    let next = Some(list.get(mu));
                    let longer = alloc!(mu, NewNode { next, seen: None, key }).unwrap();
                    list.set(mu, longer);
                    alloc!(mu, node(0)).unwrap();
                    if key % 2000 == 0 {
                        mu.collect();
                    }
                }
                alloc!(mu, NewSlots::<u8>::new(5 << 20, 1)).unwrap();
                let mut at = list.get(mu);
                while let Some(next) = at.next.load(mu) {
                    assert_eq!(next.key + 1, at.key);
                    at = next;
                }
                // Of the world that it has stopped itself, a thread may.
                mu.raw_mut().stop_the_world(|_| heap.uncommit());
            })
            .unwrap();
            heap.reset().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(other.join().unwrap() > 0);
    });
    heap.verify().unwrap();
}

#[test]
fn the_same_beside_the_concurrent_collector() {
    again_beside_cycles("the_same_beside_the_concurrent_collector");
}
