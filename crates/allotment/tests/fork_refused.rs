//! Heaps that cannot be used in a child of `fork()`: an error or a line says why, and nothing
//! hangs.

mod fork_common;

use allotment::ForkError;
use allotment::raw::{RootProvider, RootVisitor, StopError, World};
use allotment::{AttachError, Heap, Mutator, Root, alloc, root};
use fork_common::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

#[test]
fn a_child_beside_a_thread_that_ran_is_refused_and_ends_in_peace() {
    alone("a_child_beside_a_thread_that_ran_is_refused_and_ends_in_peace", || {
        let heap = heap("");
        let keep = heap
            .attach(|mu| {
                let node = alloc!(mu, NewNode { next: None, value: 7 }).expect("room");
                Root::new(mu, node)
            })
            .expect("attached");
        work(&heap);
        beside(&heap, runs, || {
            let refused = |heap: &Heap| {
                let error = heap.attach(|_| ()).expect_err("a thread ran");
                assert_eq!(error, AttachError::Forked(ForkError::ThreadRan));
                assert!(error.to_string().contains("another thread was attached"), "{error}");
                assert_eq!(heap.stop_the_world(|_| ()), Err(StopError::Forked(ForkError::ThreadRan)));
                assert!(heap.reset().is_err() && heap.verify().is_err());
                assert!(format!("{heap:?}").contains("another thread was attached"));
            };
            let (heap, keep) = (heap.clone(), keep.clone());
            let ended = in_child(move || {
                refused(&heap);
                // And a child of this child, where no call has found out yet.
                assert_eq!(in_child(|| refused(&heap)), WELL);
                drop((heap, keep));
            });
            assert_eq!(ended, WELL);
        });
        // The parent never noticed.
        work(&heap);
        drop(keep);
    });
}

#[test]
fn what_has_no_error_to_return_ends_such_a_child_with_a_line() {
    let text = alone("what_has_no_error_to_return_ends_such_a_child_with_a_line", || {
        for collector in ["parallel", "shenandoah"] {
            let heap = heap(&format!("Collector={collector}"));
            work(&heap);
            beside(&heap, runs, || {
                assert_eq!(in_child(|| drop(heap.collections())), ABORTED);
                heap.attach(|mu| {
                    let node = alloc!(mu, NewNode { next: None, value: 7 }).expect("room");
                    let keep = Root::new(mu, node);
                    let ends: [(&str, &dyn Fn()); 2] =
                        [("clone", &|| drop(keep.clone())), ("uncommit", &|| _ = heap.uncommit())];
                    for (name, end) in ends {
                        assert_eq!(in_child(end), ABORTED, "{name}");
                    }
                    assert_eq!(in_child(|| _ = mu.collect()), ABORTED);
                    assert_eq!(in_child(|| drop(mu.make_room(64))), ABORTED);
                    assert_eq!(in_child(|| work_attached(mu)), ABORTED);
                })
                .expect("attached");
            });
            work(&heap);
        }
    });
    if let Some(text) = text {
        let told = text.matches("allotment: this heap cannot be used in a child process").count();
        assert_eq!(told, 2 * 6, "{text}");
    }
}

/// Regression: the lock of the samples may never be released in the child.
#[test]
fn a_child_with_samples_of_its_own_ends_before_it_waits_for_their_lock() {
    alone("a_child_with_samples_of_its_own_ends_before_it_waits_for_their_lock", || {
        let heap = heap("");
        heap.set_allocation_sample_interval(1);
        beside(&heap, runs, || {
            heap.attach(|mu| {
                alloc!(mu, NewNode { next: None, value: 1 }).expect("room");
                assert_eq!(in_child(|| mu.blocking(|| ())), ABORTED);
                mu.blocking(|| ());
                assert_eq!(in_child(|| mu.blocking(|| ())), WELL, "nothing is to be handed over");
            })
            .expect("attached");
        });
    });
}

/// It takes what it has a buffer for, ends its attachment and itself.
#[test]
fn a_child_that_only_allocates_and_ends_is_left_alone() {
    alone("a_child_that_only_allocates_and_ends_is_left_alone", || {
        let heap = heap("");
        work(&heap);
        for others in [false, true] {
            for ends in ["_exit", "exit", "detach"] {
                let body = || {
                    let child = heap
                        .attach(|mu| {
                            alloc!(mu, NewNode { next: None, value: 1 }).expect("room");
                            // SAFETY: as in `in_child`.
                            let child = unsafe { fork() };
                            if child == 0 {
                                // SAFETY: it only sets a timer.
                                unsafe { alarm(HANGS) };
                                alloc!(mu, NewNode { next: None, value: 2 }).expect("room");
                                match ends {
                                    // SAFETY: nothing of this process is used after it.
                                    "_exit" => unsafe { _exit(0) },
                                    // SAFETY: the attachment is not used after it.
                                    "exit" => unsafe { exit(0) },
                                    _ => {}
                                }
                            }
                            child
                        })
                        .expect("attached");
                    if child == 0 {
                        // SAFETY: nothing of this process is used after it.
                        unsafe { _exit(0) }
                    }
                    assert_eq!(wait_for(child), WELL, "{ends}, {others}");
                };
                if others { beside(&heap, runs, body) } else { body() }
            }
        }
        work(&heap);
    });
}

/// A stop finds the thread in `blocking`, and leaves to it what it does when it comes back. Then
/// another thread attaches and runs, and the thread forks.
#[test]
fn a_child_that_only_comes_back_from_blocking_and_ends_is_left_alone() {
    alone("a_child_that_only_comes_back_from_blocking_and_ends_is_left_alone", || {
        for collector in ["parallel", "mark-compact", "shenandoah,ShenandoahGCMode=passive"] {
            let idle = if collector == "parallel" { "-CollectWhenIdle," } else { "" };
            let heap = heap(&format!("{idle}Collector={collector}"));
            for ends in ["_exit", "detach", "collects"] {
                let fork_asleep = |mu: &mut Mutator<'_>, start: Sender<()>, begun: Receiver<()>| {
                    mu.blocking(|| {
                        heap.stop_the_world(|_| ()).expect("not attached").expect("nobody else stops it");
                        start.send(()).expect("the other thread waits");
                        begun.recv().expect("the other thread is attached");
                        // SAFETY: as in `in_child`; the child comes back from `blocking`.
                        unsafe { fork() }
                    })
                };
                thread::scope(|scope| {
                    let (start, started) = channel();
                    let (begin, begun) = channel();
                    let (end, ended) = channel();
                    let own = &heap;
                    scope.spawn(move || {
                        started.recv().expect("the first thread sleeps");
                        runs(own, begin, ended);
                    });
                    let child = heap
                        .attach(|mu| {
                            let node = alloc!(mu, NewNode { next: None, value: 7 }).expect("room");
                            root!(mu, node = node);
                            let child = fork_asleep(mu, start, begun);
                            if child == 0 {
                                // SAFETY: it only sets a timer.
                                unsafe { alarm(HANGS) };
                                assert_eq!(node.get(mu).value, 7);
                                mu.blocking(|| ());
                                match ends {
                                    // SAFETY: nothing of this process is used after it.
                                    "_exit" => unsafe { _exit(0) },
                                    "collects" => _ = mu.collect(),
                                    _ => {}
                                }
                            }
                            child
                        })
                        .expect("attached");
                    if child == 0 {
                        // SAFETY: nothing of this process is used after it.
                        unsafe { _exit(0) }
                    }
                    let expected = if ends == "collects" { ABORTED } else { WELL };
                    assert_eq!(wait_for(child), expected, "{collector}, {ends}");
                    drop(end);
                });
            }
            work(&heap);
        }
    });
}

#[test]
fn forks_at_any_moment_end_in_a_heap_that_works_or_an_error() {
    alone("forks_at_any_moment_end_in_a_heap_that_works_or_an_error", || {
        for collector in ["parallel", "mark-compact", "shenandoah"] {
            let heap = heap(&format!("Collector={collector},MaxHeapSize=32m"));
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                let own = &heap;
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        own.attach(|mu| {
                            work_attached(mu);
                            mu.blocking(|| thread::sleep(Duration::from_micros(300)));
                        })
                        .expect("attached");
                    }
                });
                for round in 0..60 {
                    thread::sleep(Duration::from_micros(117 * round));
                    let ended = in_child(|| {
                        match own.attach(work_attached) {
                            Ok(()) => drop(own.verify().expect("in order")),
                            Err(AttachError::Forked(error)) => assert_ne!(error, ForkError::NotYet),
                            Err(error) => panic!("{error}"),
                        }
                        drop(own.clone());
                    });
                    assert_eq!(ended, WELL);
                }
                over.store(true, Ordering::Relaxed);
            });
            work(&heap);
        }
    });
}

#[test]
fn a_stop_of_another_thread_and_a_lock_of_another_thread_are_told_apart() {
    /// Waits in the midst of a visit, which holds the lock of providers.
    struct Waits(Mutex<Option<(Sender<()>, Receiver<()>)>>);
    // SAFETY: it has no roots.
    unsafe impl RootProvider for Waits {
        fn visit_roots(&self, _: &mut RootVisitor<'_, '_>) {
            if let Some((begin, end)) = self.0.lock().expect("not poisoned").take() {
                begin.send(()).expect("somebody waits");
                let _ = end.recv();
            }
        }
    }
    alone("a_stop_of_another_thread_and_a_lock_of_another_thread_are_told_apart", || {
        let heap = heap("");
        work(&heap);
        let refused = |why: ForkError| {
            let own = heap.clone();
            let ended = in_child(move || {
                assert_eq!(own.attach(|_| ()), Err(AttachError::Forked(why)));
                drop(own);
            });
            assert_eq!(ended, WELL, "{why}");
        };
        let stops = |heap: &Heap, begin: Sender<()>, end: Receiver<()>| {
            let stop = |_: &mut World<'_>| {
                begin.send(()).expect("somebody waits");
                let _ = end.recv();
            };
            heap.stop_the_world(stop).expect("not attached").expect("nobody else stops it");
        };
        beside(&heap, stops, || refused(ForkError::WorldStopped));
        let verifies = |heap: &Heap, begin: Sender<()>, end: Receiver<()>| {
            let id = heap.add_root_provider(Box::new(Waits(Mutex::new(Some((begin, end))))));
            heap.verify().expect("in order");
            heap.remove_root_provider(id).expect("it is there");
        };
        beside(&heap, verifies, || refused(ForkError::Locked));
        work(&heap);
    });
}

/// Which of the attached threads is still there only the one that forked can tell.
#[test]
fn a_thread_of_the_child_waits_for_the_one_that_forked_to_use_the_heap() {
    alone("a_thread_of_the_child_waits_for_the_one_that_forked_to_use_the_heap", || {
        let heap = heap("");
        work(&heap);
        // No thread is attached: any thread may use the heap.
        let ended = in_child(|| {
            let (one, other) = (&heap, &heap);
            thread::scope(|scope| {
                [one, other].map(|heap| scope.spawn(|| heap.attach(work_attached))).map(drop)
            });
        });
        assert_eq!(ended, WELL);
        heap.attach(|mu| {
            work_attached(mu);
            // The thread that forks is attached, and its mutator must not be taken for one that is
            // gone.
            let child = mu.blocking(|| {
                // SAFETY: as in `in_child`.
                let child = unsafe { fork() };
                if child == 0 {
                    // SAFETY: it only sets a timer.
                    unsafe { alarm(HANGS) };
                    let other =
                        thread::scope(|scope| scope.spawn(|| heap.attach(|_| ())).join().expect("no panic"));
                    assert_eq!(other, Err(AttachError::Forked(ForkError::NotYet)));
                }
                child
            });
            if child == 0 {
                work_attached(mu);
                let attached = mu.blocking(|| {
                    thread::scope(|scope| {
                        scope.spawn(|| heap.attach(work_attached)).join().expect("no panic")
                    })
                });
                // SAFETY: nothing of this process is used after it.
                unsafe { _exit(if attached.is_ok() { 0 } else { 101 }) }
            }
            assert_eq!(mu.blocking(|| wait_for(child)), WELL);
        })
        .expect("attached");
    });
}

/// The line that says why must not wait for a thread that the child does not have.
#[test]
fn a_child_says_why_though_a_lost_thread_holds_standard_error() {
    let text = alone("a_child_says_why_though_a_lost_thread_holds_standard_error", || {
        let heap = heap("");
        work(&heap);
        beside(&heap, runs, || {
            beside_a_writer(|| assert_eq!(in_child(|| drop(heap.collections())), ABORTED));
        });
    });
    assert!(text.is_none_or(|text| text.contains("allotment: this heap cannot be used in a child process")));
}
