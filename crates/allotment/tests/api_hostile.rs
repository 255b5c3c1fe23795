//! Safe code that tries to break the run-time side: roots unlinked out of order or outside the
//! heap, unwinding, moved mutators, absurd sizes, roots of other heaps.
#![forbid(unsafe_code)]
#![expect(clippy::await_holding_refcell_ref, reason = "that is what these programs try")]

mod api_common;

use allotment::{
    Fixnum, Gc, Heap, Local, Mutator, NewArray, NewBytes, NewSlots, NewStr, OutOfMemory, Root, Stack,
    WeakRoot, WrongHeap, alloc, keep, pass, rebind, root,
};
use api_common::*;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

struct Yield(bool);
impl Future for Yield {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Garbage below the live objects, so that a collection moves them.
fn litter(mu: &mut Mutator) {
    for _ in 0..1000 {
        alloc!(mu, cons(Val::Nil, Val::Nil)).unwrap();
    }
}

/// Two suspended futures hold a root each; the one that linked first is dropped first.
#[test]
fn roots_of_futures_unlink_in_any_order() {
    heap()
        .attach(|mu| {
            let mu = RefCell::new(mu);
            let task = |key: u64| {
                let mu = &mu;
                async move {
                    let mut guard = mu.borrow_mut();
                    let m = &mut **guard;
                    litter(m);
                    let fresh = alloc!(m, node(key)).unwrap();
                    root!(m, kept = fresh);
                    drop(guard);
                    Yield(false).await;
                    let mut guard = mu.borrow_mut();
                    guard.collect();
                    let k = kept.get(&guard).key;
                    drop(guard);
                    Yield(false).await;
                    k
                }
            };
            let mut cx = Context::from_waker(Waker::noop());
            for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0], [0, 2, 1]] {
                let mut tasks: Vec<_> = (0..3).map(|i| Some(Box::pin(task(i * 10)))).collect();
                for t in tasks.iter_mut().flatten() {
                    assert!(t.as_mut().poll(&mut cx).is_pending());
                }
                for i in order {
                    let t = tasks[i].as_mut().unwrap();
                    assert!(t.as_mut().poll(&mut cx).is_pending());
                    assert_eq!(t.as_mut().poll(&mut cx), Poll::Ready(i as u64 * 10));
                    tasks[i] = None;
                }
                // A forgotten future leaks its root; it does no harm.
                let mut lost = Box::pin(task(7));
                assert!(lost.as_mut().poll(&mut cx).is_pending());
                std::mem::forget(lost);
            }
        })
        .unwrap();
}

/// A future that holds a root is dropped inside `blocking`, while another thread collects and
/// walks.
#[test]
fn a_root_dropped_in_a_blocking_region_unlinks_under_the_lock() {
    let heap = heap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            heap.attach(|mu| {
                while !done.load(Ordering::Relaxed) {
                    mu.collect();
                }
            })
            .unwrap();
        });
        heap.attach(|mu| {
            let mut cx = Context::from_waker(Waker::noop());
            for round in 0..200 {
                let cell = RefCell::new(&mut *mu);
                let task = |key: u64| {
                    let cell = &cell;
                    Box::pin(async move {
                        let mut guard = cell.borrow_mut();
                        let m: &mut Mutator = &mut guard;
                        let fresh = alloc!(m, node(key)).unwrap();
                        root!(m, kept = fresh);
                        drop(guard);
                        Yield(false).await;
                        kept.get(&cell.borrow()).key
                    })
                };
                let (mut first, mut second) = (task(round), task(round + 1));
                assert!(first.as_mut().poll(&mut cx).is_pending());
                assert!(second.as_mut().poll(&mut cx).is_pending());
                cell.borrow_mut().blocking(|| {
                    std::thread::yield_now();
                    drop(first);
                });
                assert_eq!(second.as_mut().poll(&mut cx), Poll::Ready(round + 1));
            }
        })
        .unwrap();
        done.store(true, Ordering::Relaxed);
        collector.join().unwrap();
    });
}

/// The same for a stack, which is a link too.
#[test]
fn a_stack_dropped_in_a_blocking_region() {
    let heap = heap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            heap.attach(|mu| {
                while !done.load(Ordering::Relaxed) {
                    mu.collect();
                }
            })
            .unwrap();
        });
        heap.attach(|mu| {
            for key in 0..200 {
                let mut stack: Stack<'_, Node> = Stack::new(mu);
                let mut kept: Stack<'_, Node> = Stack::new(mu);
                let fresh = alloc!(mu, node(key)).unwrap();
                stack.push(mu, fresh);
                kept.push(mu, fresh);
                mu.blocking(|| {
                    std::thread::yield_now();
                    drop(stack);
                });
                assert_eq!(kept.last(mu).unwrap().key, key);
            }
        })
        .unwrap();
        done.store(true, Ordering::Relaxed);
        collector.join().unwrap();
    });
}

#[test]
fn unwinding_unlinks_and_detaches() {
    let heap = heap();
    let caught = catch_unwind(AssertUnwindSafe(|| {
        heap.attach(|mu| {
            let mut p = alloc!(mu, node(1)).unwrap();
            root!(mu, a = p);
            keep!(mu, [p] => if a.get(mu).key == 1 { panic!("on purpose") });
            p.key
        })
    }));
    assert!(caught.is_err());
    heap.attach(|mu| {
        let inner = catch_unwind(AssertUnwindSafe(|| {
            let p = alloc!(mu, node(1)).unwrap();
            root!(mu, _a = p);
            mu.collect();
            mu.blocking(|| panic!("outside"));
        }));
        assert!(inner.is_err());
        litter(mu);
        let p = alloc!(mu, node(2)).unwrap();
        root!(mu, a = p);
        mu.collect();
        assert_eq!(a.get(mu).key, 2);
    })
    .unwrap();
}

/// The early exits of a kept block.
#[test]
fn keep_with_early_return() {
    fn f(mu: &mut Mutator, fail: bool) -> Result<u64, OutOfMemory> {
        litter(mu);
        let mut p = alloc!(mu, node(5))?;
        keep!(mu, [p] => {
            mu.collect();
            if fail {
                return Err(mu.make_room(usize::MAX).unwrap_err());
            }
        });
        Ok(p.key)
    }
    heap()
        .attach(|mu| {
            assert_eq!(f(mu, false), Ok(5));
            assert_eq!(f(mu, true).unwrap_err().bytes(), usize::MAX);
            assert_eq!(f(mu, false), Ok(5));
        })
        .unwrap();
}

/// Names of the user that the macros must not pick up.
#[test]
fn shadowed_names() {
    #[allow(dead_code)]
    fn drop<T>(value: T) {
        std::mem::forget(value);
    }
    heap()
        .attach(|mu| {
            litter(mu);
            let mut p = alloc!(mu, node(3)).unwrap();
            for _ in 0..3 {
                let q = alloc!(mu, [p] => node(4)).unwrap();
                assert_eq!(q.key, 4);
                keep!(mu, [p] => mu.collect());
            }
            assert_eq!(p.key, 3);
        })
        .unwrap();
}

/// A size that no heap holds is out of memory before anything has changed.
#[test]
fn absurd_lengths_are_out_of_memory() {
    let heap = heap();
    heap.attach(|mu| {
        for len in [usize::MAX, usize::MAX / 8, usize::MAX / 16, 1 << 44, (1 << 43) + 1, 1 << 43, 1 << 40] {
            assert!(alloc!(mu, NewArray::<Option<Node>>::new(len, None)).is_err(), "{len}");
            assert!(alloc!(mu, NewSlots::new(len, 0u8)).is_err(), "{len}");
            assert!(alloc!(mu, NewSlots::new(len, 0f64)).is_err(), "{len}");
            assert!(mu.try_alloc(NewArray::<Option<Node>>::new(len, None)).is_err(), "{len}");
        }
        assert_eq!(alloc!(mu, node(1)).unwrap().key, 1);
    })
    .unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| heap.attach(|mu| mu.collect()).unwrap());
    });
}

/// No thread gets an out-of-memory error while only garbage fills the heap, whichever thread
/// collects.
#[test]
fn nobody_runs_out_of_memory_over_garbage() {
    let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                heap.attach(|mu| {
                    root!(mu, mut list = None);
                    for key in 0..100_000 {
                        // Some of it lives for a while.
                        let next = if key % 100 == 0 { None } else { list.get(mu) };
                        let new = alloc!(mu, NewNode { next, seen: None, key }).unwrap();
                        list.set(mu, Some(new));
                    }
                    assert_eq!(list.get(mu).unwrap().key, 99_999);
                })
                .unwrap();
            });
        }
        // Stop requests land anywhere, between the making of room and its use too.
        scope.spawn(|| (0..200).for_each(|_| heap.request_safepoint()));
    });
}

/// A stop request between `make_room` and the write does not take the room away.
#[test]
fn reserved_room_survives_requests() {
    let heap = heap();
    heap.attach(|mu| {
        for _ in 0..100 {
            let mut room = mu.make_room(2 * 32).unwrap();
            heap.request_safepoint();
            let Ok(one) = mu.try_alloc_in(&mut room, node(1)) else { panic!("reserved") };
            let Ok(two) = mu.try_alloc_in(&mut room, node(2)) else { panic!("reserved") };
            assert_eq!(one.key + two.key, 3);
            assert!(mu.try_alloc_in(&mut room, node(3)).is_err(), "used up");
            mu.safepoint();
            let mut room = mu.make_room(32).unwrap();
            heap.request_safepoint();
            mu.safepoint();
            assert!(mu.try_alloc_in(&mut room, node(3)).is_err(), "lapsed");
        }
    })
    .unwrap();
}

#[test]
fn a_root_of_another_heap_is_refused() {
    let (one, two) = (heap(), heap());
    let (root, weak) = one
        .attach(|mu| {
            let node = alloc!(mu, node(1)).unwrap();
            (Root::new(mu, node), WeakRoot::new(mu, node))
        })
        .unwrap();
    two.attach(|mu| {
        assert_eq!(root.try_get(mu), Err(WrongHeap));
        assert_eq!(weak.try_get(mu), Err(WrongHeap));
        let own = alloc!(mu, node(2)).unwrap();
        assert_eq!(root.try_set(mu, own), Err(WrongHeap));
        let message =
            *catch_unwind(AssertUnwindSafe(|| root.get(mu).key)).unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("belongs to another heap"), "{message}");
        assert!(catch_unwind(AssertUnwindSafe(|| root.clone().set(mu, own))).is_err());
        assert!(catch_unwind(AssertUnwindSafe(|| weak.clone().get(mu))).is_err());
    })
    .unwrap();
    one.attach(|mu| assert_eq!(root.get(mu).key, 1)).unwrap();
    // A root keeps its heap's memory, whichever handle is dropped last.
    drop(one);
    std::thread::spawn(move || drop(root)).join().unwrap();
}

#[test]
fn everything_is_where_it_moved_to() {
    heap()
        .attach(|mu| {
            litter(mu);
            let mut stack: Stack<'_, Value> = Stack::new(mu);
            let mut bare = Vec::new();
            for key in 0..200 {
                let node = alloc!(mu, [bare] => node(key)).unwrap();
                stack.push(mu, Val::Node(Some(node)));
                bare.push(node);
                let text = key.to_string();
                let text = alloc!(mu, [bare] => NewStr::from(&*text)).unwrap();
                bare.last().unwrap().seen.store(mu, None);
                let hash = mu.identity_hash(text);
                root!(mu, text = text);
                if key % 20 == 0 {
                    keep!(mu, [bare] => { litter(mu); mu.collect() });
                }
                assert_eq!(text.get(mu).parse(), Ok(key));
                assert_eq!(mu.identity_hash(text.get(mu)), hash);
            }
            let mut both = (bare[7], Some(bare[8]), [bare[9]; 2], Val::Big(Fixnum::MAX));
            keep!(mu, [bare, both] => { litter(mu); mu.collect() });
            assert_eq!((both.0.key, both.1.unwrap().key, both.2[1].key), (7, 8, 9));
            assert_eq!(both.3, Val::Big(Fixnum::MAX));
            for (key, (bare, kept)) in bare.iter().zip(stack.iter(mu)).enumerate() {
                assert_eq!(bare.key, key as u64);
                assert_eq!(kept, Val::Node(Some(*bare)));
            }
            stack.truncate(mu, 1);
            assert!(stack.pop(mu).is_some() && stack.pop(mu).is_none());
        })
        .unwrap();
}

/// The initialiser, and what it copies from, survive the collection that makes room for it.
#[test]
fn initialisers_move_with_their_objects() {
    let heap = Heap::builder().max_heap_size(4 << 20).build().unwrap();
    heap.attach(|mu| {
        let text = alloc!(mu, NewStr::from("to and fro, and here and there")).unwrap();
        root!(mu, text = text);
        let bytes = alloc!(mu, NewBytes::from(&b"0123456789"[..])).unwrap();
        root!(mu, bytes = bytes);
        let before = heap.collector();
        for round in 0..100_000u64 {
            let part = alloc!(mu, NewStr::part(text.get(mu), 3..6)).unwrap();
            assert_eq!(&*part, "and", "{before}");
            let mut digits = alloc!(mu, NewBytes::part(bytes.get(mu), 2..5)).unwrap();
            let numbers = [round, 1];
            let numbers = alloc!(mu, [digits] => NewSlots::from(&numbers[..])).unwrap();
            assert_eq!((numbers.at(0).get(), &*digits), (round, &b"234"[..]));
            let array = alloc!(mu, NewArray::<allotment::Str>::new(3, text.get(mu))).unwrap();
            assert!(array.iter(mu).all(|element| element == text.get(mu)));
        }
        assert!(
            catch_unwind(AssertUnwindSafe(|| {
                let _beyond = NewStr::part(text.get(mu), 3..600);
            }))
            .is_err()
        );
    })
    .unwrap();
}

/// `pass!` roots its arguments, and only for the call.
#[test]
fn passed_arguments_are_roots() {
    fn add<'m>(
        mu: &'m mut Mutator,
        a: Local<'_, Node>,
        n: u64,
        b: Local<'_, Option<Node>>,
    ) -> Result<Gc<'m, Node>, OutOfMemory> {
        litter(mu);
        mu.collect();
        let key = a.get(mu).key + n + b.get(mu).map_or(0, |b| b.key);
        alloc!(mu, node(key))
    }
    heap()
        .attach(|mu| {
            litter(mu);
            let mut sum = alloc!(mu, node(0)).unwrap();
            for n in 0..50 {
                sum = pass!(add(mu, =sum, n, =Some(sum))).unwrap();
                let _ = n;
            }
            assert!(sum.key > 0);
            let none = rebind!(mu, sum);
            assert_eq!(none, sum);
        })
        .unwrap();
}

#[test]
fn weak_slots_and_roots_are_cleared() {
    heap()
        .attach(|mu| {
            litter(mu);
            let mut a = alloc!(mu, node(1)).unwrap();
            let b = alloc!(mu, [a] => NewNode { next: None, seen: Some(a), key: 2 }).unwrap();
            a.seen.store(mu, Some(b));
            let weak_a = WeakRoot::new(mu, a);
            let weak_b = WeakRoot::new(mu, Val::Node(Some(b)));
            let number = WeakRoot::new(mu, Val::Int(5));
            root!(mu, a = a);
            assert!(mu.collect());
            assert_eq!(a.get(mu).key, 1);
            assert_eq!(a.get(mu).seen.load(mu), None);
            assert_eq!(weak_a.get(mu), Some(a.get(mu)));
            assert_eq!(weak_b.get(mu), None);
            assert_eq!(number.get(mu), Some(Val::Int(5)));
        })
        .unwrap();
}

#[test]
fn the_same_beside_the_concurrent_collector() {
    again_beside_cycles("the_same_beside_the_concurrent_collector");
}
