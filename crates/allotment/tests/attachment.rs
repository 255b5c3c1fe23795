//! Attachments that their owners keep: what ends them, and what must be refused. Facts that depend
//! on the end of a process, or on a child of `fork()`, run in processes of their own.

mod fork_common;

use allotment::raw::{BlockingError, RawMutator};
use allotment::{AttachError, Attachment, Heap, NewStr, Root, alloc};
use fork_common::{ABORTED, HANGS, WELL, alarm, alone, in_child, work};
use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::thread;

const COLLECTORS: [&str; 4] = ["epsilon", "mark-compact", "parallel", "shenandoah"];

fn heap(options: &str) -> Heap {
    Heap::builder().max_heap_size(16 << 20).options(options).expect(options).build().expect(options)
}

fn each_collector(test: impl Fn(&Heap)) {
    COLLECTORS.iter().for_each(|name| test(&heap(&format!("Collector={name}"))));
}

#[test]
fn a_thread_has_one_attachment_of_either_kind_to_any_heap() {
    let other = heap("");
    each_collector(|heap| {
        let mut own = heap.attach_thread().unwrap();
        assert_eq!(own.hot(), own.with(|mu| mu.raw().hot()));
        for again in [heap, &other] {
            assert_eq!(again.attach_thread().map(drop), Err(AttachError::AlreadyAttached));
            assert_eq!(again.attach(|_| ()), Err(AttachError::AlreadyAttached));
        }
        assert_eq!(heap.threads().len(), 1);
        drop(own);
        assert_eq!(heap.threads().len(), 0);
        heap.attach(|_| assert_eq!(heap.attach_thread().map(drop), Err(AttachError::AlreadyAttached)))
            .unwrap();
        other.attach_thread().map(drop).unwrap();
    });
}

#[test]
fn no_thread_attaches_in_a_stop() {
    each_collector(|heap| {
        let refused = heap.stop_the_world(|_| heap.attach_thread().map(drop));
        assert_eq!(refused, Ok(Some(Err(AttachError::WorldStopped))));
        let mut own = heap.attach_thread().unwrap();
        assert!(heap.stop_the_world(|_| ()).is_err(), "the thread would wait for itself");
        assert_eq!(own.blocking(|| heap.stop_the_world(|world| world.threads())), Ok(Some(1)));
    });
}

#[test]
fn a_panic_leaves_the_thread_attached_and_what_it_made_usable() {
    each_collector(|heap| {
        let mut own = heap.attach_thread().unwrap();
        let mut kept = None;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            own.with(|mu| {
                let text = alloc!(mu, NewStr::from("kept")).unwrap();
                kept = Some(Root::new(mu, text));
                mu.blocking(|| panic!("on purpose"));
            });
        }));
        assert!(panicked.is_err());
        let text = own.with(|mu| {
            mu.collect();
            kept.as_ref().map(|kept| kept.get(mu).to_string())
        });
        assert_eq!(text.as_deref(), Some("kept"));
        drop(own);
        assert_eq!(heap.threads().len(), 0);
    });
}

#[test]
fn the_heap_lives_as_long_as_an_attachment() {
    for collector in COLLECTORS {
        let heap = heap(&format!("Collector={collector}"));
        let mut own = heap.attach_thread().unwrap();
        drop(heap);
        own.with(|mu| alloc!(mu, NewStr::from("text")).map(drop)).unwrap();
        assert_eq!(own.heap().threads().len(), 1);
    }
}

#[test]
fn entering_and_leaving_a_blocking_region_twice_is_an_error() {
    each_collector(|heap| {
        heap.attach(|mu| {
            let raw = mu.raw_mut();
            // SAFETY: nothing of the heap is used in the region but these functions.
            unsafe {
                assert_eq!(raw.leave_blocking(), Err(BlockingError::NotEntered));
                assert_eq!(raw.enter_blocking(), Ok(()));
                assert_eq!(raw.enter_blocking(), Err(BlockingError::Entered));
                assert_eq!(heap.stop_the_world(|world| world.threads()), Ok(Some(1)));
                assert_eq!(raw.leave_blocking(), Ok(()));
                assert_eq!(raw.leave_blocking(), Err(BlockingError::NotEntered));
            }
            mu.collect();
        })
        .unwrap();
    });
}

#[test]
fn a_thread_detaches_from_within_a_blocking_region() {
    each_collector(|heap| {
        let mut own = heap.attach_thread().unwrap();
        // SAFETY: nothing of the heap is used any more.
        own.with(|mu| unsafe { mu.raw_mut().enter_blocking() }).unwrap();
        drop(own);
        assert_eq!(heap.threads().len(), 0);
        assert_eq!(heap.stop_the_world(|world| world.threads()), Ok(Some(0)));
        heap.attach(|mu| mu.collect()).unwrap();
    });
}

#[test]
fn a_hot_part_is_taken_on_its_own_thread_while_it_is_attached() {
    each_collector(|heap| {
        let mut own = heap.attach_thread().unwrap();
        let hot = own.hot();
        let address = hot.addr();
        // SAFETY: no other mutator is in use.
        let taken = |hot| unsafe { RawMutator::with_hot(hot, |mu| mu.raw().hot()) };
        assert_eq!(taken(hot), Some(hot));
        assert_eq!(taken(std::ptr::null()), None);
        assert_eq!(taken(hot.wrapping_byte_add(8)), None);
        let foreign = || {
            thread::spawn(move || {
                // SAFETY: the address is of another thread: the body does not run.
                unsafe { RawMutator::with_hot(std::ptr::without_provenance(address), |_| ()) }
            })
        };
        assert_eq!(own.blocking(|| foreign().join()).unwrap(), None);
        drop(own);
        assert_eq!(taken(hot), None);
        assert_eq!(taken(std::ptr::null()), None);
    });
}

/// Eight threads that come and go, with and without bodies, while collections run.
#[test]
fn attachments_of_many_threads_under_zeal() {
    for collector in &COLLECTORS[1..] {
        let heap = heap(&format!(
            "Collector={collector},ZealInterval=7,+ZealMove,+ZealPoison,+VerifyBeforeGC,+VerifyAfterGC"
        ));
        thread::scope(|scope| {
            for number in 0..4 {
                let heap = &heap;
                scope.spawn(move || {
                    for turn in 0..20 {
                        let mut own = heap.attach_thread().unwrap();
                        let made = own.with(|mu| {
                            let text = format!("{number} {turn}");
                            let text = alloc!(mu, NewStr::from(&*text)).unwrap();
                            Root::new(mu, text)
                        });
                        own.blocking(thread::yield_now);
                        for _ in 0..5 {
                            own.with(|mu| alloc!(mu, NewStr::from("garbage")).map(drop)).unwrap();
                        }
                        let text = own.with(|mu| made.get(mu).to_string());
                        assert_eq!(text, format!("{number} {turn}"));
                    }
                });
            }
        });
        assert_eq!(heap.threads().len(), 0);
    }
}

#[test]
fn a_thread_that_ends_with_a_leaked_attachment_is_detached_and_named() {
    let text = alone("a_thread_that_ends_with_a_leaked_attachment_is_detached_and_named", || {
        each_collector(|heap| {
            let ends = |blocking: bool| {
                let own_heap = heap.clone();
                let thread = thread::Builder::new().name("leaky".to_owned());
                let thread = thread.spawn(move || {
                    let mut own = own_heap.attach_thread().unwrap();
                    own.with(|mu| alloc!(mu, NewStr::from("text")).map(drop)).unwrap();
                    if blocking {
                        // SAFETY: nothing of the heap is used any more.
                        own.with(|mu| unsafe { mu.raw_mut().enter_blocking() }).unwrap();
                    }
                    mem::forget(own);
                    assert_eq!(own_heap.attach(|_| ()), Err(AttachError::AlreadyAttached));
                });
                thread.unwrap().join().unwrap();
                assert_eq!(heap.threads().len(), 0);
                // A stop would wait without end for the thread.
                assert_eq!(heap.stop_the_world(|world| world.threads()), Ok(Some(0)));
            };
            ends(false);
            ends(true);
            heap.attach(|mu| mu.collect()).unwrap();
        });
    });
    if let Some(text) = text {
        let named = "allotment: thread \"leaky\" (ThreadId(";
        assert_eq!(text.matches(named).count(), 2 * COLLECTORS.len(), "{text}");
        assert!(text.contains("detach it before it ends"), "{text}");
    }
}

thread_local! {
    static KEPT: RefCell<Kept> = const { RefCell::new(Kept(None)) };
}

/// Uses its attachment when its thread ends.
struct Kept(Option<Attachment>);

impl Drop for Kept {
    fn drop(&mut self) {
        let Some(mut own) = self.0.take() else { return };
        let heap = own.heap().clone();
        // The thread was detached before: neither is used, and the state is not freed twice.
        assert_eq!(heap.threads().len(), 0);
        assert!(catch_unwind(AssertUnwindSafe(|| own.with(|_| ()))).is_err());
        assert_eq!(heap.attach_thread().map(drop), Err(AttachError::ThreadEnds));
        assert_eq!(heap.attach(|_| ()), Ok(()));
        drop(own);
        assert_eq!(heap.threads().len(), 0);
        println!("dropped late");
    }
}

#[test]
fn an_attachment_in_a_thread_local_value_is_refused_after_the_thread_was_detached() {
    let text =
        alone("an_attachment_in_a_thread_local_value_is_refused_after_the_thread_was_detached", || {
            each_collector(|heap| {
                let heap = heap.clone();
                let ended = thread::spawn(move || {
                    KEPT.with(|kept| kept.borrow_mut().0 = Some(heap.attach_thread().unwrap()));
                });
                ended.join().unwrap();
            });
        });
    if let Some(text) = text {
        assert_eq!(text.matches("dropped late").count(), COLLECTORS.len(), "{text}");
    }
}

#[test]
fn a_process_may_exit_from_a_body_and_beside_one() {
    alone("a_process_may_exit_from_a_body_and_beside_one", || {
        for collector in ["epsilon", "mark-compact", "parallel"] {
            let heap = heap(&format!("Collector={collector}"));
            let exits = |inside: bool| {
                in_child(|| {
                    let mut own = heap.attach_thread().unwrap();
                    own.with(|mu| alloc!(mu, NewStr::from("text")).map(drop)).unwrap();
                    // SAFETY: it ends the process.
                    let exit = || unsafe { fork_common::exit(0) };
                    if inside {
                        own.with(|mu| mu.raw_mut().stop_the_world(|_| exit()));
                    }
                    exit();
                })
            };
            assert_eq!((exits(true), exits(false)), (WELL, WELL), "{collector}");
        }
    });
}

#[test]
fn an_attachment_goes_on_in_a_child_of_fork() {
    alone("an_attachment_goes_on_in_a_child_of_fork", || {
        for collector in ["epsilon", "mark-compact", "parallel"] {
            let heap = heap(&format!("Collector={collector}"));
            let mut own = heap.attach_thread().unwrap();
            let child = in_child(|| {
                own.with(|mu| alloc!(mu, NewStr::from("text")).map(drop)).unwrap();
                own.with(|mu| mu.collect());
                assert_eq!(heap.attach(|_| ()), Err(AttachError::AlreadyAttached));
            });
            assert_eq!(child, WELL, "{collector}");
            let mut own = Some(own);
            let child = in_child(|| {
                drop(own.take());
                work(&heap);
            });
            assert_eq!(child, WELL, "{collector}");
            own.as_mut().unwrap().with(|mu| mu.collect());
        }
    });
}

/// The child has a heap whose other thread ran: the attachment is dropped there without a word.
#[test]
fn an_attachment_is_dropped_in_a_child_that_cannot_use_the_heap() {
    alone("an_attachment_is_dropped_in_a_child_that_cannot_use_the_heap", || {
        let heap = heap("");
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                let own = heap.attach_thread().unwrap();
                barrier.wait();
                barrier.wait();
                drop(own);
            });
            let mut own = Some(heap.attach_thread().unwrap());
            barrier.wait();
            assert_eq!(in_child(|| drop(own.take())), WELL);
            let collects = in_child(|| {
                own.as_mut().unwrap().with(|mu| mu.collect());
            });
            assert_eq!(collects, ABORTED);
            drop(own.take());
            barrier.wait();
        });
        // SAFETY: it only sets a timer.
        unsafe { alarm(HANGS) };
    });
}
