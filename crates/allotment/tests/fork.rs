//! Heaps that work in children of `fork()`. Those that cannot be used there: `fork_refused.rs`.

mod fork_common;

use allotment::{Heap, Mutator, Root, alloc, root};
use fork_common::*;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn a_child_collects_with_threads_of_its_own() {
    alone("a_child_collects_with_threads_of_its_own", || {
        for collector in ["parallel", "mark-compact", "epsilon"] {
            let heap = heap(&format!("Collector={collector}"));
            work(&heap);
            assert!(collector == "epsilon" || has_thread("allotment-gc"));
            let ended = in_child(|| {
                assert!(!has_thread("allotment-gc"));
                (0..3).for_each(|_| work(&heap));
                assert!(collector == "epsilon" || has_thread("allotment-gc"));
                heap.reset().expect("nobody is attached");
                drop(heap.clone());
            });
            assert_eq!(ended, WELL, "{collector}");
            work(&heap);
        }
    });
}

#[test]
fn a_child_collects_in_each_mode_of_zeal() {
    alone("a_child_collects_in_each_mode_of_zeal", || {
        for options in
            ["ZealInterval=20000,+ZealMove,+ZealPoison", "+VerifyAfterGC,+VerifyBeforeGC,+ZealProtect"]
        {
            let heap = heap(options);
            work(&heap);
            assert_eq!(in_child(|| work(&heap)), WELL, "{options}");
            work(&heap);
        }
    });
}

#[test]
fn a_child_drops_a_heap_that_it_used_or_did_not_use() {
    alone("a_child_drops_a_heap_that_it_used_or_did_not_use", || {
        for uses in [false, true] {
            for collector in ["parallel", "mark-compact", "epsilon"] {
                let heap = heap(&format!("Collector={collector}"));
                let root = heap
                    .attach(|mu| {
                        let node = alloc!(mu, NewNode { next: None, value: 7 }).expect("room");
                        Root::new(mu, node)
                    })
                    .expect("attached");
                work(&heap);
                let ended = in_child(move || {
                    if uses {
                        work(&heap);
                    }
                    drop((root, heap));
                    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
                    assert!(!maps.contains("allotment-heap"), "it gives its memory back: {maps}");
                });
                assert_eq!(ended, WELL, "{collector}, {uses}");
            }
        }
    });
}

/// The thread that waits for a time at which no mutator runs is not in the child.
#[test]
fn a_child_has_a_thread_of_its_own_that_collects_when_idle() {
    alone("a_child_has_a_thread_of_its_own_that_collects_when_idle", || {
        let heap = heap("NewSize=4m,MaxNewSize=4m");
        // Slowly: an eden that is full at once is not looked after.
        let until_it_looks = || {
            heap.attach(|mu| {
                while !has_thread("allotment-idle") {
                    for value in 0..1000 {
                        alloc!(mu, NewNode { next: None, value }).expect("room");
                    }
                    thread::sleep(Duration::from_millis(1));
                }
            })
            .expect("attached");
        };
        until_it_looks();
        let own = heap.clone();
        let ended = in_child(move || {
            assert!(!has_thread("allotment-idle"));
            until_it_looks();
            drop(own);
        });
        assert_eq!(ended, WELL);
        let ended = in_child(move || drop(heap));
        assert_eq!(ended, WELL, "it neither waits for the thread nor panics");
    });
}

/// The thread that gives memory back, and collects after `GCInterval`, is not in the child.
#[test]
fn a_child_has_a_timer_of_its_own() {
    alone("a_child_has_a_timer_of_its_own", || {
        for collector in ["parallel", "mark-compact", "shenandoah,ShenandoahGCMode=passive"] {
            let until_it_waits = || {
                while !has_thread("allotment-timer") {
                    thread::yield_now();
                }
                // The thread has a lock while it looks.
                thread::sleep(Duration::from_millis(100));
            };
            let heap = heap(&format!("Collector={collector},UncommitDelay=2147483647"));
            work(&heap);
            until_it_waits();
            let own = heap.clone();
            let ended = in_child(move || {
                assert!(!has_thread("allotment-timer"));
                heap.attach(|_| ()).expect("attached");
                until_it_waits();
                drop(heap);
            });
            assert_eq!(ended, WELL, "{collector}");
            let ended = in_child(|| drop(own));
            assert_eq!(ended, WELL, "{collector}: it neither waits for the thread nor panics");

            let heap = fork_common::heap(&format!("Collector={collector},GCInterval=1000"));
            until_it_waits();
            let ended = in_child(|| {
                heap.attach(|_| ()).expect("attached");
                while heap.collections().count == 0 {
                    thread::yield_now();
                }
            });
            assert_eq!(ended, WELL, "{collector}");
        }
    });
}

#[test]
fn the_mutator_of_the_thread_that_forks_lives_on_in_both() {
    alone("the_mutator_of_the_thread_that_forks_lives_on_in_both", || {
        // The heap's own thread must not stop the world before this one does.
        const BY_HAND: [&str; 4] = [
            "-CollectWhenIdle",
            "Collector=mark-compact",
            "Collector=epsilon",
            "-CollectWhenIdle,ZealInterval=30000",
        ];
        for options in BY_HAND {
            let heap = heap(options);
            work(&heap);
            heap.attach(|mu| {
                let mut list = None;
                for value in (0..NODES).rev() {
                    list = Some(alloc!(mu, NewNode { next: list, value }).expect("room"));
                }
                root!(mu, list = list);
                // In the last case the thread sleeps: a stop has found it in `blocking`.
                for (blocking, sleeps) in [(false, false), (true, false), (true, true)] {
                    let body = |mu: &mut Mutator<'_>| {
                        work_attached(mu);
                        assert_eq!(length(list.get(mu), mu), NODES);
                    };
                    let forks = || {
                        if sleeps {
                            heap.stop_the_world(|_| ()).expect("it may").expect("no other stop");
                        }
                        // SAFETY: as in `in_child`; the child goes on after the fork, in `blocking`
                        // or not.
                        unsafe { fork() }
                    };
                    let child = if blocking { mu.blocking(forks) } else { forks() };
                    if child == 0 {
                        // SAFETY: it only sets a timer.
                        unsafe { alarm(HANGS) };
                        let ended = catch_unwind(AssertUnwindSafe(|| body(mu)));
                        // SAFETY: nothing of this process is used after it.
                        unsafe { _exit(if ended.is_ok() { 0 } else { 101 }) }
                    }
                    body(mu);
                    assert_eq!(mu.blocking(|| wait_for(child)), WELL, "{options}");
                }
            })
            .expect("attached");
        }
    });
}

#[test]
fn threads_that_were_in_blocking_are_forgotten() {
    alone("threads_that_were_in_blocking_are_forgotten", || {
        // Not in a cycle, which may begin at any time otherwise: a fork during a step of one is
        // refused.
        const SHENANDOAH: &str = "Collector=shenandoah,ShenandoahGCMode=passive";
        for options in ["", "Collector=mark-compact", SHENANDOAH, "Collector=epsilon"] {
            let heap = heap(options);
            work(&heap);
            beside(&heap, blocks, || {
                heap.stop_the_world(|_| ()).expect("it may");
                // One of the two threads sleeps, the other one does not.
                beside(&heap, blocks, || {
                    let ended = in_child(|| {
                        assert_eq!(heap.attach(|_| heap.metrics().threads.now), Ok(1), "{options}");
                        work(&heap);
                        assert_eq!(heap.metrics().threads.now, 0);
                        assert_eq!(heap.metrics().threads.ever, 5);
                        heap.reset().expect("nobody is attached, and no root is left");
                    });
                    assert_eq!(ended, WELL, "{options}");
                    assert_eq!(heap.metrics().threads.now, 2);
                    work(&heap_of_its_own());
                });
            });
        }
    });
}

/// Another heap of the same process, which knows nothing of the first.
fn heap_of_its_own() -> Heap {
    heap("")
}

#[test]
fn a_child_of_a_child_works_whether_the_child_used_the_heap_or_not() {
    alone("a_child_of_a_child_works_whether_the_child_used_the_heap_or_not", || {
        let (heap, other) = (heap(""), heap("Collector=mark-compact"));
        [&heap, &other].into_iter().for_each(work);
        for uses in [false, true] {
            let ended = in_child(|| {
                if uses {
                    [&heap, &other].into_iter().for_each(work);
                }
                let grandchild = in_child(|| {
                    [&heap, &other].into_iter().for_each(work);
                    assert_eq!(in_child(|| work(&heap)), WELL);
                });
                assert_eq!(grandchild, WELL);
                [&heap, &other].into_iter().for_each(work);
            });
            assert_eq!(ended, WELL);
            [&heap, &other].into_iter().for_each(work);
        }
    });
}

#[test]
fn who_stops_the_world_may_fork_in_it_whatever_others_do() {
    alone("who_stops_the_world_may_fork_in_it_whatever_others_do", || {
        let heap = heap("");
        work(&heap);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    heap.attach(|mu| {
                        while !over.load(Ordering::Relaxed) {
                            work_attached(mu);
                        }
                    })
                });
            }
            for attached in [false, true].repeat(10) {
                // SAFETY: as in `in_child`; the child ends the stop.
                let stop = || unsafe { fork() };
                let child = loop {
                    let child = if attached {
                        heap.attach(|mu| mu.raw_mut().stop_the_world(|_| stop())).expect("attached")
                    } else {
                        heap.stop_the_world(|_| stop()).expect("not attached")
                    };
                    if let Some(child) = child {
                        break child;
                    }
                };
                if child == 0 {
                    // SAFETY: it only sets a timer.
                    unsafe { alarm(HANGS) };
                    let ended = catch_unwind(AssertUnwindSafe(|| work(&heap)));
                    // SAFETY: nothing of this process is used after it.
                    unsafe { _exit(if ended.is_ok() { 0 } else { 101 }) }
                }
                // Another thread may have had a lock for a moment, in the midst of an attempt to
                // stop the world itself.
                let end = wait_for(child);
                assert!(end == WELL || end == ABORTED, "{end:?}");
            }
            over.store(true, Ordering::Relaxed);
        });
        work(&heap);
    });
}

#[test]
fn threads_of_a_child_find_out_together_once() {
    alone("threads_of_a_child_find_out_together_once", || {
        let heap = heap("");
        work(&heap);
        let ended = in_child(|| {
            let together = Barrier::new(4);
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        together.wait();
                        heap.attach(work_attached).expect("attached");
                    });
                }
            });
            heap.verify().expect("in order");
        });
        assert_eq!(ended, WELL);
    });
}

/// `eprintln!` would wait for a thread that the child does not have.
#[test]
fn a_child_prints_its_collections_though_a_lost_thread_holds_standard_error() {
    let text = alone("a_child_prints_its_collections_though_a_lost_thread_holds_standard_error", || {
        let heap = heap("+PrintGCDetails");
        work(&heap);
        beside_a_writer(|| assert_eq!(in_child(|| work(&heap)), WELL));
    });
    assert!(text.is_none_or(|text| text.contains("[gc] GC(")));
}

/// Whether a thread is inside the loader, and whether it is to leave.
static AT_THE_LOADER: AtomicBool = AtomicBool::new(false);
static LEAVE: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    /// Calls back for each file that is loaded, and holds the loader's lock meanwhile.
    fn dl_iterate_phdr(
        callback: extern "C" fn(*mut c_void, usize, *mut c_void) -> i32,
        data: *mut c_void,
    ) -> i32;
}

extern "C" fn wait_at_the_loader(_: *mut c_void, _: usize, _: *mut c_void) -> i32 {
    AT_THE_LOADER.store(true, Ordering::Relaxed);
    while !LEAVE.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
    }
    1
}

/// A profiler or a backtrace walks the loaded files, and a stop of the world searches them for
/// types.
#[test]
fn a_child_collects_though_a_lost_thread_holds_the_loader_s_lock() {
    alone("a_child_collects_though_a_lost_thread_holds_the_loader_s_lock", || {
        let heap = heap("");
        work(&heap);
        thread::scope(|scope| {
            // SAFETY: the callback takes what the loader gives, and looks at none of it.
            scope.spawn(|| unsafe { dl_iterate_phdr(wait_at_the_loader, ptr::null_mut()) });
            while !AT_THE_LOADER.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let ended = in_child(|| {
                work(&heap);
                // A heap of the child's own asks as well.
                work(&self::heap("Collector=mark-compact"));
            });
            LEAVE.store(true, Ordering::Relaxed);
            assert_eq!(ended, WELL);
        });
        work(&heap);
    });
}
