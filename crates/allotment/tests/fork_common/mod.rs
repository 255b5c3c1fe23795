//! The common parts of the fork tests: processes in which they fork, and work for a heap.
//!
//! Each test runs itself again in a process of its own, where no other test has threads, and forks
//! there. An alarm ends a test that hangs, and the test sees the signal.
#![allow(dead_code)]

use allotment::{Field, Gc, Heap, Mutator, Object, alloc, root};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

#[path = "../own_program/mod.rs"]
mod own_program;
pub(crate) use own_program::own_program;

unsafe extern "C" {
    pub(crate) fn fork() -> i32;
    pub(crate) fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    pub(crate) fn _exit(code: i32) -> !;
    pub(crate) fn exit(code: i32) -> !;
    pub(crate) fn alarm(seconds: u32) -> u32;
}

/// Tells the process that it is the one in which a test forks.
pub(crate) const CHILD: &str = "ALLOTMENT_TEST_CHILD";

/// Seconds until something hangs, and not just waits for a CPU.
pub(crate) const HANGS: u32 = 120;

/// The signal that ends a process that aborts.
pub(crate) const ABORT: i32 = 6;

/// How a child ended.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    pub(crate) signal: i32,
    pub(crate) code: i32,
}

pub(crate) const WELL: End = End { signal: 0, code: 0 };
pub(crate) const ABORTED: End = End { signal: ABORT, code: 0 };

/// Runs `test` in a process of its own. Returns its output.
pub(crate) fn alone(name: &str, test: impl FnOnce()) -> Option<String> {
    if std::env::var_os(CHILD).is_some() {
        // SAFETY: it only sets a timer.
        unsafe { alarm(3 * HANGS) };
        test();
        println!("child: done");
        return None;
    }
    let output = own_program()
        .args(["--exact", name, "--nocapture", "--test-threads", "1"])
        .env(CHILD, "1")
        .output()
        .expect("the program starts");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success() && text.contains("child: done"), "{}: {text}", output.status);
    Some(text)
}

/// Runs `body` in a child of this process: how that ended.
pub(crate) fn in_child(body: impl FnOnce()) -> End {
    // SAFETY: the child runs what a library may promise to a child; if it hangs, an alarm ends it.
    match unsafe { fork() } {
        -1 => panic!("no process"),
        0 => {
            // SAFETY: it only sets a timer.
            unsafe { alarm(HANGS) };
            let ended = catch_unwind(AssertUnwindSafe(body));
            // SAFETY: nothing of this process is used after it.
            unsafe { _exit(if ended.is_ok() { 0 } else { 101 }) }
        }
        child => wait_for(child),
    }
}

pub(crate) fn wait_for(child: i32) -> End {
    let mut status = 0;
    // SAFETY: the status is this function's own.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    End { signal: status & 127, code: status >> 8 }
}

#[derive(Object)]
pub(crate) struct Node {
    pub(crate) next: Field<Option<Node>>,
    pub(crate) value: u64,
}

pub(crate) const NODES: u64 = 100_000;

/// A heap of which several workers collect even a little.
pub(crate) fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(64 << 20);
    let builder = if options.contains("epsilon") { builder } else { builder.parallel_gc_threads(4) };
    builder.options(options).expect("options").build().expect("a heap")
}

pub(crate) fn length<'g>(mut list: Option<Gc<'g, Node>>, mu: &'g Mutator<'_>) -> u64 {
    let mut length = 0;
    while let Some(node) = list {
        assert_eq!(node.value, length);
        list = node.next.load(mu);
        length += 1;
    }
    length
}

/// Makes a list, wastes as much, collects, and looks whether the list is there.
pub(crate) fn work_attached(mu: &mut Mutator<'_>) {
    let mut list = None;
    for value in (0..NODES).rev() {
        list = Some(alloc!(mu, NewNode { next: list, value }).expect("room"));
    }
    root!(mu, list = list);
    for value in 0..4 * NODES {
        alloc!(mu, NewNode { next: None, value }).expect("room");
    }
    mu.collect();
    assert_eq!(length(list.get(mu), mu), NODES);
}

pub(crate) fn work(heap: &Heap) {
    heap.attach(work_attached).expect("attached");
    heap.verify().expect("in order");
}

/// Whether this process has a thread of that name.
pub(crate) fn has_thread(name: &str) -> bool {
    let threads = std::fs::read_dir("/proc/self/task").expect("Linux has it");
    threads.flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|own| own.starts_with(name))
    })
}

/// Runs `body` while another thread of the heap does `other`, told by the receiver when to end;
/// `other` sends once it is at it.
pub(crate) fn beside(
    heap: &Heap,
    other: impl FnOnce(&Heap, Sender<()>, Receiver<()>) + Send,
    body: impl FnOnce(),
) {
    thread::scope(|scope| {
        let (begin, begun) = channel();
        let (end, ended) = channel();
        scope.spawn(move || other(heap, begin, ended));
        begun.recv().expect("it begins");
        body();
        drop(end);
    });
}

/// A thread that is attached and neither allocates nor blocks.
pub(crate) fn runs(heap: &Heap, begin: Sender<()>, end: Receiver<()>) {
    heap.attach(|_| {
        begin.send(()).expect("somebody waits");
        let _ = end.recv();
    })
    .expect("attached");
}

/// A thread that is attached, with objects in a root and a buffer, and in `blocking`.
pub(crate) fn blocks(heap: &Heap, begin: Sender<()>, end: Receiver<()>) {
    heap.attach(|mu| {
        let node = alloc!(mu, NewNode { next: None, value: 0 }).expect("room");
        root!(mu, node = node);
        mu.blocking(|| {
            begin.send(()).expect("somebody waits");
            let _ = end.recv();
        });
        assert_eq!(node.get(mu).value, 0);
        work_attached(mu);
    })
    .expect("attached");
}

/// Runs `body` while another thread, which no heap knows, holds the lock of this process's standard
/// error.
pub(crate) fn beside_a_writer(body: impl FnOnce()) {
    thread::scope(|scope| {
        let (begin, begun) = channel();
        let (end, ended) = channel::<()>();
        scope.spawn(move || {
            let _held = std::io::stderr().lock();
            begin.send(()).expect("somebody waits");
            let _ = ended.recv();
        });
        begun.recv().expect("it begins");
        body();
        drop(end);
    });
}
