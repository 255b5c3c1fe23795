//! Output on the standard error: of a process of its own, which a test starts.

use super::{push, root, with_pairs};
use crate::Heap;
use crate::options::CollectorKind;
use crate::platform::Clock;

/// The options of the child's heap; not set in the process that starts the child.
const CHILD: &str = "ALLOTMENT_TEST_LOG";

/// Collects a heap with these options until every kind of log line has had its cause.
fn collect(options: &str) {
    let builder = Heap::builder().test_geometry(super::REGION, 64).use_transparent_huge_pages(false);
    // The clock is so fast that even this small heap looks for idle times.
    let builder = builder.clock(Clock::fast());
    let (heap, pair) = with_pairs(builder.options(options).expect("options").build().expect("a heap"));
    heap.attach(|mutator| {
        let list = root(mutator);
        (0..2000).for_each(|key| push(mutator, pair, &list, key).expect("room"));
        (0..3).for_each(|_| assert!(mutator.collect()));
        for _ in 0..20_000 {
            // SAFETY: the shape is the heap's, and the pair is not used.
            unsafe { mutator.raw_mut().alloc_raw(pair, 0) }.expect("room");
        }
    })
    .expect("it is attached to none");
}

/// The output of a process that runs this test again, on its first thread. With `alone`, it gets no
/// other threads.
fn log_of(test: &str, options: &str, alone: bool) -> Vec<String> {
    let mut program = crate::own_program();
    program.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(CHILD, options);
    if alone {
        // No address space has room for the stack.
        program.env("RUST_MIN_STACK", (1_u64 << 47).to_string());
    }
    let output = program.output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{options}: {text}");
    text.lines().filter(|line| line.starts_with('[')).map(str::to_owned).collect()
}

#[test]
fn a_gang_that_the_system_makes_smaller_is_told_once() {
    if let Ok(options) = std::env::var(CHILD) {
        return collect(&options);
    }
    let test = "collector::tests::log::a_gang_that_the_system_makes_smaller_is_told_once";
    for collector in [CollectorKind::MarkCompact, CollectorKind::Parallel] {
        for (alone, print, told) in [(true, true, 1), (false, true, 0), (true, false, 0)] {
            let sign = if print { '+' } else { '-' };
            let options = format!("Collector={},ParallelGCThreads=2,{sign}PrintGC", collector.name());
            let lines = log_of(test, &options, alone);
            let warnings: Vec<_> = lines.iter().filter(|line| line.contains("[warning]")).collect();
            assert_eq!(warnings.len(), told, "{options}: {lines:#?}");
            let text = "s][warning][gc] GC(0) 1 worker instead of 2: the system started no more threads";
            assert!(warnings.iter().all(|line| line.contains(text)), "{warnings:?}");
            assert_eq!(lines.iter().any(|line| line.contains("[info][gc] GC(2) Pause Full")), print);
            assert!(!lines.iter().any(|line| line.contains("[debug]")), "{lines:#?}");
        }
    }
}

#[test]
fn details_come_with_the_line_of_their_collection() {
    if let Ok(options) = std::env::var(CHILD) {
        return collect(&options);
    }
    let test = "collector::tests::log::details_come_with_the_line_of_their_collection";
    let lines = log_of(test, "Collector=parallel,ParallelGCThreads=2,+PrintGCDetails", true);
    let last = lines.iter().position(|line| line.contains("[info][gc] GC(2) Pause Full (Requested) "));
    let line = |text: &str| lines.iter().position(|line| line.contains(text));
    let workers = line("[debug][gc] GC(2) Workers: 1 of 2, 2 wanted, used ");
    let buffers = line("[debug][gc] GC(2) TLABs adaptive: 1 threads, ");
    assert!(workers.is_some() && workers < buffers && buffers < last, "{lines:#?}");
    // The thread that looks for idle times was refused, too.
    assert!(line("last part open after ").is_some(), "{lines:#?}");
    assert!(lines.iter().any(|line| line.ends_with(": no thread to look for idle times")), "{lines:#?}");
}
