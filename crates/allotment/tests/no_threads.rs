//! A system that gives no thread: the heap does the work of several threads with the threads it
//! has.

mod fork_common;

use allotment::stats::CollectionRecord;
use allotment::{Heap, alloc};
use fork_common::*;
use std::thread;
use std::time::Duration;

#[repr(C)]
struct Limit {
    soft: u64,
    hard: u64,
}

const RLIMIT_NPROC: i32 = 6;
const NOBODY: u32 = 65534;

unsafe extern "C" {
    fn geteuid() -> u32;
    fn setuid(user: u32) -> i32;
    fn setrlimit(resource: i32, limit: *const Limit) -> i32;
}

/// From here on this process has a user that may have so many threads in all its processes.
fn limit_threads(most: u64) {
    let limit = Limit { soft: most, hard: most };
    // SAFETY: the limit is this function's own. The user is changed permanently, in a process of
    // the test's own: root has no limit.
    unsafe {
        assert_eq!(setrlimit(RLIMIT_NPROC, &limit), 0);
        assert!(geteuid() != 0 || setuid(NOBODY) == 0);
    }
}

fn threads() -> u64 {
    std::fs::read_dir("/proc/self/task").expect("Linux has it").count() as u64
}

/// Collections of a heap that would start threads of each kind.
fn collections(options: &str) -> Vec<CollectionRecord> {
    let heap = heap(options);
    (0..3).for_each(|_| work(&heap));
    heap.collections().recent.into()
}

const HEAPS: [&str; 3] = [
    "Collector=parallel,InitialHeapSize=16m,+AlwaysPreTouch",
    "Collector=mark-compact,InitialHeapSize=16m,+AlwaysPreTouch",
    "Collector=parallel,ZealInterval=20000,+ZealMove",
];

#[test]
fn without_any_thread_the_callers_do_all_the_work() {
    alone("without_any_thread_the_callers_do_all_the_work", || {
        // One with threads, which it keeps.
        let before = heap("");
        work(&before);
        limit_threads(1);
        let refused = thread::Builder::new().spawn(|| ());
        assert!(refused.is_err(), "the system gives threads without end");
        for options in HEAPS {
            let records = collections(options);
            assert!(!records.is_empty() && records.iter().all(|record| record.workers == 1), "{options}");
        }
        work(&before);
    });
}

#[test]
fn of_fewer_threads_than_are_wanted_each_works() {
    alone("of_fewer_threads_than_are_wanted_each_works", || {
        limit_threads(threads() + 1);
        for options in HEAPS {
            let records = collections(options);
            // None, if other processes of that user have them.
            assert!(records.iter().all(|record| (1..=2).contains(&record.workers)), "{options}");
        }
    });
}

#[test]
fn without_a_thread_that_looks_nobody_collects_when_idle() {
    alone("without_a_thread_that_looks_nobody_collects_when_idle", || {
        limit_threads(1);
        let heap = heap("NewSize=4m,MaxNewSize=4m");
        let told = |heap: &Heap| {
            let records = heap.collections().recent;
            let mut lines = records.iter().flat_map(CollectionRecord::detail_lines);
            lines.any(|line| line.ends_with("no thread to look for idle times"))
        };
        heap.attach(|mu| {
            // Slowly: an eden that is full at once is not looked after.
            while !told(&heap) {
                for value in 0..1000 {
                    alloc!(mu, NewNode { next: None, value }).expect("room");
                }
                thread::sleep(Duration::from_millis(1));
            }
        })
        .expect("attached");
        heap.verify().expect("in order");
    });
}

#[test]
fn without_a_thread_that_writes_there_is_no_timeline() {
    alone("without_a_thread_that_writes_there_is_no_timeline", || {
        limit_threads(1);
        // Of the user that may have no thread.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        let error =
            Heap::builder().max_heap_size(8 << 20).timeline(path.clone()).build().expect_err("no thread");
        let text = error.to_string();
        let begin =
            format!("Timeline={}: the system refused the thread that writes the file: ", path.display());
        assert!(text.starts_with(&begin) && text.ends_with("a higher limit on threads may work"), "{text}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left over");
    });
}

#[test]
fn a_heap_that_is_to_listen_and_gets_no_thread_is_refused_and_leaves_no_socket() {
    alone("a_heap_that_is_to_listen_and_gets_no_thread_is_refused_and_leaves_no_socket", || {
        limit_threads(0);
        let builder = Heap::builder().max_heap_size(16 << 20).start_attach_listener(true);
        let error = builder.build().expect_err("no thread").to_string();
        assert!(error.contains("StartAttachListener: the system refused the thread"), "{error}");
        // SAFETY: it only asks.
        let folder = format!("/tmp/allotment-{}", unsafe { geteuid() });
        let own = format!("{}-", std::process::id());
        let sockets = std::fs::read_dir(folder).into_iter().flatten().flatten();
        assert!(
            !sockets.map(|socket| socket.file_name()).any(|name| name.to_string_lossy().starts_with(&own))
        );
    });
}
