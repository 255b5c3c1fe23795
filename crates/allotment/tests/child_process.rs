//! The facts that depend on the process: its environment and its limits. Each test runs itself
//! again in a child.
//!
//! Setting a variable inside the test would race with all other tests of the process.

use allotment::options::CollectorKind;
use allotment::raw::{Element, Shape};
use allotment::{Heap, OutOfMemory};
use std::process::Command;

/// Tells the child that it is one.
const CHILD: &str = "ALLOTMENT_TEST_CHILD";

fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test of that name in a child with `ALLOTMENT_OPTIONS` and a limit for `ulimit`. Returns
/// the standard output followed by the standard error.
fn child(test: &str, options: &str, limit: &str) -> String {
    let program = std::env::current_exe().expect("the test's own program");
    let output = Command::new("sh")
        .args(["-c", &format!("{limit} exec \"$0\" --exact {test} --nocapture --test-threads 1")])
        .arg(program)
        .env(CHILD, "1")
        .env("ALLOTMENT_OPTIONS", options)
        .output()
        .expect("a shell");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("child:"), "it did not run: {text}");
    text
}

#[test]
fn wrong_options_in_the_environment_are_named_with_their_origin() {
    const TEST: &str = "wrong_options_in_the_environment_are_named_with_their_origin";
    if is_child() {
        let error = Heap::builder().max_heap_size(64 << 20).build().expect_err("an option is wrong");
        println!("child: {error}");
        return;
    }
    for (options, expected) in [
        ("TLABSiz=64k", ["TLABSiz", "TLABSize", "{environment}"]),
        ("TLABSize=many", ["TLABSize", "many", "{environment}"]),
        ("MaxHeapSize=1", ["MaxHeapSize", "1", "{environment}"]),
        ("+TLABSize", ["TLABSize", "not a switch", "{environment}"]),
        ("-UseTLAB,TLABSize=64k", ["-UseTLAB", "TLABSize=64k", "{environment}"]),
    ] {
        let text = child(TEST, options, "");
        assert!(expected.iter().all(|part| text.contains(part)), "{options}: {text}");
    }
}

#[test]
fn the_environment_wins_over_the_program() {
    const TEST: &str = "the_environment_wins_over_the_program";
    if is_child() {
        let builder = Heap::builder().max_heap_size(64 << 20).use_tlab(true);
        let heap = builder.options("TLABPolicy=default").expect("a list").build().expect("a heap");
        let row = |name: &str| heap.options().rows().find(|row| row.info.name == name).expect("an option");
        println!(
            "child: {} {} {}",
            heap.geometry().heap_bytes(),
            row("UseTLAB").value,
            row("UseTLAB").origin
        );
        return;
    }
    let text = child(TEST, "MaxHeapSize=32m -UseTLAB", "");
    assert!(text.contains("child: 33554432 false environment"), "{text}");
}

#[test]
fn a_text_of_defaults_loses_to_the_environment_and_the_command_line() {
    const TEST: &str = "a_text_of_defaults_loses_to_the_environment_and_the_command_line";
    if is_child() {
        let refused = Heap::builder().defaults("TLABSiz=64k").expect_err("no such option");
        assert!(refused.to_string().contains("{builder}"), "{refused}");
        let builder = Heap::builder().max_heap_size(64 << 20).options("TLABSize=32k").expect("a list");
        let builder =
            builder.defaults("MaxHeapSize=16m,-UseTLAB,TLABSize=64k,Collector=epsilon").expect("a list");
        let heap = builder.build().expect("a heap");
        let row = |name: &str| heap.options().rows().find(|row| row.info.name == name).expect("an option");
        let rows = ["UseTLAB", "TLABSize", "Collector"].map(|name| (row(name).value, row(name).origin));
        let rows = rows.map(|(value, origin)| format!("{value} {origin}")).join(", ");
        println!("child: {} {rows}", heap.geometry().heap_bytes());
        return;
    }
    let text = child(TEST, "+UseTLAB", "");
    let expected = "child: 16777216 true environment, 32k command line, epsilon builder";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn what_a_collection_did_is_printed_on_the_standard_error() {
    const TEST: &str = "what_a_collection_did_is_printed_on_the_standard_error";
    if is_child() {
        let heap = Heap::builder().max_heap_size(64 << 20).build().expect("a heap");
        let collected = heap.attach(|mutator| {
            allotment::alloc!(mutator, allotment::NewStr::from("text")).expect("room");
            mutator.collect()
        });
        println!("child: {collected:?}");
        return;
    }
    const LINE: &str = "][info][gc] GC(0) Pause Full (Requested) ";
    const BUFFERS: &str =
        "][debug][gc] GC(0) TLAB totals: thrds: 1  refills: 1 max: 1 slow allocs: 0 max 0 waste: ";
    for (options, printed) in
        [("", &[] as &[&str]), ("+PrintGC", &[LINE]), ("+PrintGCDetails", &[LINE, BUFFERS])]
    {
        let text = child(TEST, options, "");
        for line in [LINE, BUFFERS] {
            assert_eq!(text.contains(line), printed.contains(&line), "{options}, {line}: {text}");
        }
    }
}

#[test]
fn a_heap_beyond_the_limit_of_addresses_is_refused_with_the_remedy() {
    const TEST: &str = "a_heap_beyond_the_limit_of_addresses_is_refused_with_the_remedy";
    if is_child() {
        let error = Heap::builder().max_heap_size(32 << 40).build().expect_err("more than the limit");
        println!("child: {error}");
        Heap::builder().max_heap_size(64 << 20).build().expect("a small one fits");
        return;
    }
    let text = child(TEST, "", "ulimit -v 4000000;");
    assert!(text.contains("cannot reserve 32 TiB") && text.contains("ulimit -v"), "{text}");
}

#[test]
fn a_system_that_gives_no_more_memory_ends_the_heap_and_not_the_process() {
    const TEST: &str = "a_system_that_gives_no_more_memory_ends_the_heap_and_not_the_process";
    if is_child() {
        // The first level needs no memory, of which there will be none.
        let builder =
            Heap::builder().max_heap_size(4 << 30).collector(CollectorKind::Epsilon).verify_gc_level(1);
        let heap = builder.build().expect("addresses are not limited");
        let shape = Shape::array("Bytes", 16, Element::Plain { bytes: 1 });
        let bytes = heap.register(shape).expect("a shape");
        let error = heap.attach(|mutator| {
            for allocated in 0_usize.. {
                // SAFETY: the shape is the heap's, and nobody uses the objects.
                if let Err(error) = unsafe { mutator.raw_mut().alloc_raw(bytes, 100_000) } {
                    assert!(allocated > 1000, "only {allocated} objects fit");
                    return error;
                }
            }
            unreachable!("no heap holds so many")
        });
        let error: OutOfMemory = error.expect("not attached yet");
        assert!(error.refused_by_system());
        heap.verify().expect("a heap that is parsable");
        heap.reset().expect("nobody is attached");
        // SAFETY: as above.
        heap.attach(|mutator| unsafe { mutator.raw_mut().alloc_raw(bytes, 100_000) })
            .expect("attached")
            .expect("emptied");
        // Its memory is needed for the tables of the next one.
        drop(heap);
        let initial = Heap::builder().max_heap_size(4 << 30).initial_heap_size(4 << 30).build();
        println!("child: {error}\n{}", initial.expect_err("not that much"));
        return;
    }
    // The limit counts memory that may be written to, not addresses.
    let text = child(TEST, "", "ulimit -d 600000;");
    assert!(text.contains("the system refused to commit more memory"), "{text}");
    assert!(text.contains("InitialHeapSize=4294967296"), "{text}");
}
