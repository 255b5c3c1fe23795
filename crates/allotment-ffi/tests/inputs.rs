//! Wrong inputs: each gives its code and a text, or ends the process with one line that says what
//! was wrong and what would be right. All run with Parallel and with Shenandoah.
//!
//! | input | tests |
//! |---|---|
//! | NULL for each pointer that may not be | `a_null_gets_its_answer`, all of `tests/c/nulls.c` |
//! | `size` 0, too small, larger | `options_size_0` and on, `error_size_0`, `error_larger`, `shape_size_0` and on |
//! | another ABI | `heap_abi` |
//! | option, value, environment | `option_unknown`, `option_value`, `option_not_text`, `option_environment` |
//! | shape without a name; slot outside, twice, off a word | `shape_without_name` to `shape_of_odd_size` |
//! | 2^24 shapes | `a_heap_has_a_limit_of_shapes`, in the nightly part |
//! | trace function that may change | `shape_trace_may_change` |
//! | lengths | `length_max`, `length_2_43`, `length_0`, `length_of_each_allocation` |
//! | full heap, with the hook and without | `heap_full`, `heap_full_with_hook` |
//! | attach twice, to two heaps, in a stop, in a child | `attach_twice` to `attach_in_forked_child` |
//! | a child of an attached thread | `collect_in_forked_child` to `fork_alone` |
//! | detach with frames, twice, of another thread | `detach_with_frames`, `detach_twice`, `detach_foreign` |
//! | thread that ends attached | `thread_ends_attached`, `thread_ends_blocked` |
//! | another thread's mutator | `foreign_mutator` |
//! | poll while blocked, double enter and leave | `poll_blocked`, `alloc_blocked`, `block_twice`, `leave_twice` |
//! | heap freed with threads, handles, pins | `free_attached` to `free_while_handles_end`, `free_with_blocked_thread` |
//! | handle or provider of another heap | `handle_of_another_heap` to `provider_of_another_heap` |
//! | pin or handle freed twice, used later | `tests/wrong`: `pin_twice.c`, `handle_after_free.c` |
//! | callback that allocates, frees, stops, attaches | `provider_allocates` to `codes_in_on_collection` |
//! | callback that throws | `looks.rs` |
//! | callback that jumps | `jump_out_of_stop`, `jump_out_of_heap_limit` |
//! | longjmp over a frame | `jump_with_reset`, `jump_without_reset`; `tests/wrong/jump.c` |
//! | frame unlinked twice | `unlink_twice`, `unlink_after_reset` |
//! | `dlclose`, while attached and after | `looks.rs` |
//! | two copies of the library | `two_copies_of_the_library_know_their_own_threads` |

mod common;

use common::{build, compilers, library, run, scratch, text};
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

/// How a case ends.
enum End {
    /// It goes on, and says this.
    Says(&'static [&'static str]),
    /// It ends the process with one line that has this.
    Aborts(&'static [&'static str]),
}

use End::{Aborts, Says};

const ARGUMENT: &str = "an argument is wrong, such as a pointer that is NULL";
const ABI: &str = "header and library do not fit";
const OPTION: &str = "an option is wrong";
const SHAPE: &str = "the description describes no object";
const ATTACHED: &str = "threads are attached, or this one is";
const ROOTED: &str = "handles or pins are left: 1 handles and pins";
const STOPPING: &str = "this thread stops the world";
const FORKED: &str = "a child of fork() in which";

const CASES: &[(&str, End)] = &[
    ("heap_place_null", Says(&[ARGUMENT, "`heap`"])),
    ("heap_abi", Says(&[ABI, "compile it with the header of this library"])),
    ("options_size_0", Says(&[ABI, "al_options.size is 0"])),
    ("options_too_small", Says(&[ABI, "sizeof(al_options)"])),
    ("options_unknown_member", Says(&[ABI, "a newer library works"])),
    ("options_zero_tail", Says(&["no error"])),
    ("error_size_0", Says(&[ABI])),
    ("error_larger", Says(&[ARGUMENT, "`heap`"])),
    ("option_unknown", Says(&[OPTION, "did you mean MaxHeapSize?", "{builder}"])),
    ("option_value", Says(&[OPTION, "many", "{command line}"])),
    ("option_not_text", Says(&[OPTION, "UTF-8"])),
    ("option_environment", Says(&[OPTION, "TLABSize", "{environment}"])),
    ("free_null", Says(&["no error"])),
    ("free_attached", Says(&[ATTACHED, "all have to detach first"])),
    ("free_with_handle", Says(&[ROOTED, "free them first"])),
    ("free_with_pin", Says(&[ROOTED])),
    ("free_while_handles_end", Says(&["no error"])),
    ("reset_attached", Says(&[ATTACHED])),
    ("reset_null", Says(&[ARGUMENT, "`heap`"])),
    ("uncommit_null", Aborts(&["al_heap_uncommit", "`heap` is NULL"])),
    ("shape_null", Says(&[ARGUMENT, "`desc`"])),
    ("shape_without_name", Says(&[SHAPE, "no name"])),
    ("shape_name_empty", Says(&[SHAPE, "no name"])),
    ("shape_size_0", Says(&[ABI, "al_shape_desc.size is 0"])),
    ("shape_too_small_a_size", Says(&[ABI, "sizeof(al_shape_desc)"])),
    ("shape_unknown_member", Says(&[ABI, "a newer library works"])),
    ("shape_slot_outside", Says(&[SHAPE, "from 8 to 16"])),
    ("shape_slot_off_a_word", Says(&[SHAPE, "multiple of 8"])),
    ("shape_slot_twice", Says(&[SHAPE, "two slots"])),
    ("shape_slot_kind", Says(&[SHAPE, "AL_STRONG or AL_WEAK"])),
    ("shape_slots_null", Says(&[ARGUMENT, "`slots`"])),
    ("shape_slot_count", Says(&[SHAPE, "slots in 24 bytes"])),
    ("shape_tail", Says(&[SHAPE, "al_tail"])),
    ("shape_too_small", Says(&[SHAPE, "16 to 2^46"])),
    ("shape_sizes", Says(&[SHAPE])),
    ("shape_slot_offsets", Says(&[SHAPE])),
    ("shape_slot_on_length", Says(&[SHAPE])),
    ("shape_of_odd_size", Says(&["no error"])),
    ("shape_trace_may_change", Says(&[SHAPE, "traces while threads run"])),
    ("attach_null", Says(&[ARGUMENT, "`heap`"])),
    ("attach_place_null", Says(&[ARGUMENT, "`mutator`"])),
    ("attach_twice", Says(&["this thread is attached already"])),
    ("attach_two_heaps", Says(&["this thread is attached already", "detach first"])),
    ("attach_in_stop", Says(&[STOPPING])),
    ("stop_in_stop", Says(&[STOPPING])),
    ("stop_null", Says(&[ARGUMENT, "`stopped`"])),
    ("stop_of_another_heap", Says(&[ATTACHED])),
    ("attach_in_forked_child", Says(&[FORKED])),
    ("collect_in_forked_child", Aborts(&["fork"])),
    ("alloc_in_forked_child", Aborts(&["fork"])),
    ("detach_in_forked_child", Says(&["no error"])),
    ("detach_blocked_in_forked_child", Says(&["no error"])),
    ("free_handles_in_forked_child", Says(&["no error"])),
    ("fork_alone", Says(&["child 0"])),
    ("detach_with_frames", Aborts(&["al_detach", "frames are still linked"])),
    ("detach_twice", Aborts(&["al_detach", "call al_attach on this thread first"])),
    ("detach_foreign", Aborts(&["al_detach", "not the mutator of the calling thread"])),
    ("foreign_mutator", Aborts(&["al_collect", "not attached"])),
    ("null_mutator", Aborts(&["al_collect", "not attached"])),
    ("thread_ends_attached", Says(&["ended while it was attached", "no error"])),
    ("thread_ends_blocked", Says(&["ended while it was attached", "no error"])),
    ("free_with_blocked_thread", Says(&[ATTACHED])),
    ("poll_blocked", Aborts(&["al_poll", "al_block_leave"])),
    ("alloc_blocked", Aborts(&["al_alloc", "al_block_leave"])),
    ("block_twice", Aborts(&["al_block_enter", "leave that region"])),
    ("leave_twice", Aborts(&["al_block_leave", "not blocking"])),
    ("stop_blocked", Says(&["no error"])),
    ("detach_blocked", Says(&["no error"])),
    ("length_max", Says(&["the heap, or the system, has no room"])),
    ("length_2_43", Says(&["the heap, or the system, has no room"])),
    ("length_0", Says(&["no error"])),
    ("length_of_each_allocation", Says(&["no error"])),
    ("room_max", Says(&["the heap, or the system, has no room"])),
    ("array_without_tail", Aborts(&["al_alloc_array", "allocate its objects with al_alloc"])),
    ("heap_full", Says(&["no room for 24 bytes", "larger MaxHeapSize", "bytes 24 of 16777216"])),
    ("heap_full_with_hook", Says(&["no room for 24 bytes", "asked 2"])),
    ("handle_of_another_heap", Aborts(&["al_handle_get", "of another heap"])),
    ("handle_set_of_another_heap", Aborts(&["al_handle_set", "of another heap"])),
    ("provider_of_another_heap", Aborts(&["al_provider_remove", "to another heap"])),
    ("handle_null", Aborts(&["al_handle_get", "`handle` is NULL"])),
    ("pin_null", Aborts(&["al_pin_new", "`object` is NULL"])),
    ("provider_null", Says(&[ARGUMENT, "`visit`"])),
    ("provider_allocates", Aborts(&["al_alloc: called from a provider"])),
    ("provider_frees_handle", Aborts(&["al_handle_free: called from a provider"])),
    ("provider_adds_provider", Says(&[STOPPING, "called from a provider"])),
    ("visitor_after_its_call", Aborts(&["al_visit", "is not the visitor of a provider"])),
    ("trace_allocates", Aborts(&["al_alloc: called from a trace function"])),
    ("walk_after_stop", Says(&[ARGUMENT, "is not the world of a stop"])),
    ("roots_after_stop", Aborts(&["al_roots", "is not the world of a stop"])),
    ("uncommit_in_stop", Aborts(&["al_heap_uncommit: called from a stop"])),
    ("free_in_walk", Says(&[STOPPING, "called from al_walk"])),
    ("codes_in_stop", Says(&["no error"])),
    ("codes_in_on_collection", Says(&["no error"])),
    ("unlink_twice", Aborts(&["al_unlink", "not on the list of its thread"])),
    ("unlink_after_reset", Aborts(&["al_unlink", "not on the list of its thread"])),
    ("verify_attached", Says(&[ATTACHED])),
    ("snapshot_fd", Says(&[ARGUMENT, "`fd` is -1"])),
    ("snapshot_format", Says(&[ARGUMENT, "AL_HPROF"])),
    ("profile_closed", Says(&["the system refused", "987"])),
    ("jump_with_reset", Says(&["no error"])),
    ("jump_without_reset", Aborts(&["al_detach", "frames are still linked"])),
    ("jump_out_of_stop", Aborts(&["al_collect: called from a stop"])),
    ("jump_out_of_heap_limit", Aborts(&["al_poll: called from on_heap_limit"])),
    ("no_such_code", Says(&["no code of this library"])),
];

/// Asserts that a program said all parts, and ended well or within the library with one line.
fn assert_end(case: &str, output: &Output, parts: &[&str], aborts: bool) {
    let said = text(output);
    assert!(parts.iter().all(|part| said.contains(part)), "{case}: {said}");
    assert!(!said.contains("::"), "{case}: a C program does not know these names: {said}");
    if aborts {
        let code = output.status.code();
        assert!(output.status.signal() == Some(6) || code == Some(134), "{case}: {}, {said}", output.status);
        let own = String::from_utf8_lossy(&output.stderr);
        let lines = own.lines().filter(|line| line.starts_with("allotment: ")).count();
        assert_eq!(lines, 1, "{case}: {own}");
    } else {
        assert!(output.status.success(), "{case}: {}, {said}", output.status);
    }
}

const COLLECTORS: [&str; 2] = ["", "Collector=shenandoah"];

#[test]
fn each_wrong_input_gets_its_answer() {
    let compiler = &compilers()[0];
    let program = build(compiler, "c/inputs.c", "inputs", &["-O0", "-Wno-clobbered"]);
    let list = text(&run(&program, &["list"], "", 10));
    let listed: Vec<&str> = list.lines().collect();
    assert_eq!(listed, CASES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "all cases, in order");
    for options in COLLECTORS {
        for (case, end) in CASES {
            let output = run(&program, &[case], options, 60);
            let (parts, aborts) = match end {
                Says(parts) => (parts, false),
                Aborts(parts) => (parts, true),
            };
            assert_end(&format!("{case}, {options:?}"), &output, parts, aborts);
        }
    }
}

#[test]
fn a_null_gets_its_answer() {
    let program = build(&compilers()[0], "c/nulls.c", "nulls", &["-O0"]);
    let list = text(&run(&program, &["list"], "", 10));
    assert!(list.lines().count() > 70, "{list}");
    for options in COLLECTORS {
        for line in list.lines() {
            let [number, kind, words] = line.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let output = run(&program, &[number], options, 60);
            let parts: &[&str] = if kind == "code" { &[ARGUMENT, words, "is NULL"] } else { &[words] };
            assert_end(&format!("{line}, {options:?}"), &output, parts, kind == "ends");
        }
    }
}

#[test]
fn two_copies_of_the_library_know_their_own_threads() {
    let copy = scratch("liballotment_copy.so");
    std::fs::copy(library("so"), &copy).expect("a file");
    let program = build(&compilers()[0], "c/copies.c", "copies", &["-ldl"]);
    let [own, copy] = [library("so"), copy].map(|path| path.to_string_lossy().into_owned());
    for options in COLLECTORS {
        let output = run(&program, &[&own, &copy, "apart"], options, 60);
        assert_end(&format!("apart, {options:?}"), &output, &["well"], false);
        let output = run(&program, &[&own, &copy, "foreign"], options, 60);
        assert_end("foreign", &output, &["al_collect", "not attached", "of this copy of the library"], true);
    }
}

/// The table of shapes is full. It takes some GiB of memory.
#[test]
#[ignore = "in the nightly part: it needs a lot of memory"]
fn a_heap_has_a_limit_of_shapes() {
    let program = build(&compilers()[0], "c/inputs.c", "inputs-shapes", &["-O2", "-Wno-clobbered"]);
    for options in COLLECTORS {
        let output = run(&program, &["shapes"], options, 600);
        let parts = [SHAPE, "all 2^24 - 2^22 shape ids of this heap are taken", "after 12582912 shapes"];
        assert_end("shapes", &output, &parts, false);
    }
}
