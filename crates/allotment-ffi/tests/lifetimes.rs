//! Ends: of heaps whose own threads are at work, of threads that are attached, of processes.

mod common;

use common::{build, compilers, run, text};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::sync::LazyLock;

/// The program, which only reads what each case needs of its options.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let flags = ["-O1", "-fno-exceptions", "-Wno-frame-address", "-Wno-dangling-pointer"];
    build(&compilers()[0], "c/lifetimes.c", "lifetimes", &flags)
});

const COLLECTORS: [&str; 4] = ["parallel", "mark-compact", "shenandoah", "epsilon"];

/// Runs a case that goes well, and returns what it said.
fn well(case: &str, options: &str) -> String {
    let output = run(&PROGRAM, &[case, options], "", 120);
    let said = text(&output);
    assert!(output.status.success() && said.contains("well"), "{case}, {options}: {} {said}", output.status);
    said
}

/// Runs a case that ends the process with one line, which says this.
fn ends(case: &str, options: &str, says: &str) {
    let output = run(&PROGRAM, &[case, options], "", 60);
    let said = text(&output);
    let aborted = output.status.signal() == Some(6) || output.status.code() == Some(134);
    assert!(aborted && said.contains(says), "{case}, {options}: {} {said}", output.status);
    assert_eq!(said.matches("allotment: ").count(), 1, "{case}, {options}: {said}");
}

#[test]
fn no_callback_runs_after_the_end_of_a_heap() {
    for mode in ["satb", "generational"] {
        let options = format!("Collector=shenandoah,ShenandoahGCMode={mode},MaxHeapSize=16m");
        well("free_while_marking", &options);
    }
    for collector in ["parallel", "mark-compact", "shenandoah"] {
        well("free_while_timer_collects", &format!("Collector={collector},MaxHeapSize=16m,GCInterval=1"));
    }
}

#[test]
fn the_end_of_a_heap_waits_for_threads_that_detach_and_not_for_itself() {
    for collector in COLLECTORS {
        let options = format!("Collector={collector},MaxHeapSize=16m");
        well("free_while_detaching", &options);
        well("free_in_child", &options);
        if collector != "epsilon" {
            well("free_in_callback", &options);
        }
    }
}

#[test]
fn a_thread_that_ends_attached_keeps_no_heap() {
    for collector in COLLECTORS {
        let options = format!("Collector={collector},MaxHeapSize=16m");
        let said = well("heap_of_thread_that_ended", &options);
        assert_eq!(said.matches("ended while it was attached").count(), 1, "{collector}: {said}");
        assert!(said.contains("detach it before it ends"), "{collector}: {said}");
    }
    well("heap_of_thread_that_ended", "MaxHeapSize=16m,GCInterval=1");
}

#[test]
fn handlers_after_the_end_of_a_thread_detach_and_do_nothing_else() {
    for collector in COLLECTORS {
        let options = format!("Collector={collector},MaxHeapSize=16m");
        for case in ["detach_at_exit", "detach_in_key_destructor"] {
            let said = well(case, &options);
            assert!(said.contains("detached late"), "{case}, {collector}: {said}");
        }
        well("free_at_exit", &options);
    }
    let options = "MaxHeapSize=16m";
    let ended = "the calling thread is ending and was detached: do this before it ends";
    ends("collect_at_exit", options, &format!("al_collect: {ended}"));
    ends("alloc_at_exit", options, &format!("al_alloc: {ended}"));
    ends("detach_twice_at_exit", options, "al_detach: the calling thread is not attached");
    let program = build(&compilers()[0], "c/globals.cc", "globals", &["-std=c++17"]);
    let output = run(&program, &[], "MaxHeapSize=16m", 60);
    let said = text(&output);
    assert!(output.status.success() && said.contains("freed late"), "{}: {said}", output.status);
}

#[test]
fn a_frame_that_is_linked_while_blocked_hides_nothing() {
    for collector in ["parallel", "shenandoah"] {
        let options = &*format!("Collector={collector},MaxHeapSize=16m");
        let blocked = "the calling thread is blocked: call al_block_leave first";
        ends("alloc_with_frame_of_block", options, &format!("al_alloc: {blocked}"));
        ends("collect_with_frame_of_block", options, &format!("al_collect: {blocked}"));
        ends("leave_with_frame_of_block", options, "al_block_leave: roots in frames were linked while");
        for case in ["unlink_twice_in_block", "unlink_twice", "unlink_outer_below_frame_of_block"] {
            ends(case, options, "is not on the list");
        }
    }
}

#[test]
fn a_blocked_thread_that_exits_from_a_frame_leaves_no_roots() {
    for collector in ["parallel", "mark-compact", "shenandoah"] {
        let said = well("exit_in_block", &format!("Collector={collector},MaxHeapSize=16m"));
        assert_eq!(said.matches("ended while it was attached").count(), 1, "{collector}: {said}");
    }
}
