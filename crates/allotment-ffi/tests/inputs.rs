//! Wrong inputs: each gives its code and a text, or ends the process with one line that says what
//! was wrong and what would be right.

mod common;

use common::{build, compilers, run, text};
use std::os::unix::process::ExitStatusExt;

/// How a case ends.
enum End {
    /// It goes on, and says this.
    Says(&'static [&'static str]),
    /// It ends the process with one line that has this.
    Aborts(&'static [&'static str]),
}

use End::{Aborts, Says};

const NULL: &str = "an argument is wrong, such as a pointer that is NULL";
const ABI: &str = "header and library do not fit";
const OPTION: &str = "an option is wrong";
const SHAPE: &str = "the description describes no object";
const ATTACHED: &str = "threads are attached, or this one is";
const ROOTED: &str = "handles or pins are left: 1 handles and pins";
const STOPPING: &str = "this thread stops the world";
const FORKED: &str = "a child of fork() in which";

const CASES: &[(&str, End)] = &[
    ("heap_place_null", Says(&[NULL, "`heap`"])),
    ("heap_abi", Says(&[ABI, "compile it with the header of this library"])),
    ("options_size_0", Says(&[ABI, "al_options.size is 0"])),
    ("options_too_small", Says(&[ABI, "sizeof(al_options)"])),
    ("options_unknown_member", Says(&[ABI, "a newer library works"])),
    ("options_zero_tail", Says(&["no error"])),
    ("error_size_0", Says(&[ABI])),
    ("option_unknown", Says(&[OPTION, "did you mean MaxHeapSize?", "{builder}"])),
    ("option_value", Says(&[OPTION, "many", "{command line}"])),
    ("option_not_text", Says(&[OPTION, "UTF-8"])),
    ("option_environment", Says(&[OPTION, "TLABSize", "{environment}"])),
    ("free_null", Says(&["no error"])),
    ("free_attached", Says(&[ATTACHED, "all have to detach first"])),
    ("free_with_handle", Says(&[ROOTED, "free them first"])),
    ("free_with_pin", Says(&[ROOTED])),
    ("reset_attached", Says(&[ATTACHED])),
    ("reset_null", Says(&[NULL, "`heap`"])),
    ("uncommit_null", Aborts(&["al_heap_uncommit", "`heap` is NULL"])),
    ("shape_null", Says(&[NULL, "`desc`"])),
    ("shape_without_name", Says(&[SHAPE, "no name"])),
    ("shape_size_0", Says(&[ABI, "al_shape_desc.size is 0"])),
    ("shape_slot_outside", Says(&[SHAPE, "from 8 to 16"])),
    ("shape_slot_off_a_word", Says(&[SHAPE, "multiple of 8"])),
    ("shape_slot_twice", Says(&[SHAPE, "two slots"])),
    ("shape_slot_kind", Says(&[SHAPE, "AL_STRONG or AL_WEAK"])),
    ("shape_slots_null", Says(&[NULL, "`slots`"])),
    ("shape_tail", Says(&[SHAPE, "al_tail"])),
    ("shape_too_small", Says(&[SHAPE, "16 to 2^46"])),
    ("shape_trace_may_change", Says(&[SHAPE, "traces while threads run"])),
    ("attach_null", Says(&[NULL, "`heap`"])),
    ("attach_place_null", Says(&[NULL, "`mutator`"])),
    ("attach_twice", Says(&["this thread is attached already"])),
    ("attach_two_heaps", Says(&["this thread is attached already", "detach first"])),
    ("attach_in_stop", Says(&[STOPPING])),
    ("stop_in_stop", Says(&[STOPPING])),
    ("stop_null", Says(&[NULL, "`stopped`"])),
    ("stop_of_another_heap", Says(&[ATTACHED])),
    ("attach_in_forked_child", Says(&[FORKED])),
    ("detach_with_frames", Aborts(&["al_detach", "2 frames are still linked"])),
    ("detach_twice", Aborts(&["al_detach", "call al_attach on this thread first"])),
    ("detach_foreign", Aborts(&["al_detach", "not the mutator of the calling thread"])),
    ("foreign_mutator", Aborts(&["al_collect", "not attached"])),
    ("null_mutator", Aborts(&["al_collect", "not attached"])),
    ("thread_ends_attached", Says(&["ended while it was attached", "no error"])),
    ("poll_blocked", Aborts(&["al_poll", "al_block_leave"])),
    ("alloc_blocked", Aborts(&["al_alloc", "al_block_leave"])),
    ("block_twice", Aborts(&["al_block_enter", "leave that region"])),
    ("leave_twice", Aborts(&["al_block_leave", "not blocking"])),
    ("detach_blocked", Says(&["no error"])),
    ("length_max", Says(&["the heap, or the system, has no room"])),
    ("length_2_43", Says(&["the heap, or the system, has no room"])),
    ("length_0", Says(&["no error"])),
    ("room_max", Says(&["the heap, or the system, has no room"])),
    ("array_without_tail", Aborts(&["al_alloc_array", "allocate its objects with al_alloc"])),
    ("heap_full", Says(&["no room for 24 bytes", "larger MaxHeapSize", "bytes 24 of 16777216"])),
    ("heap_full_with_hook", Says(&["no room for 24 bytes", "asked 2"])),
    ("handle_of_another_heap", Aborts(&["al_handle_get", "of another heap"])),
    ("handle_null", Aborts(&["al_handle_get", "`handle` is NULL"])),
    ("pin_null", Aborts(&["al_pin_new", "`object` is NULL"])),
    ("provider_null", Says(&[NULL, "`visit`"])),
    ("provider_allocates", Aborts(&["al_alloc: called from a provider"])),
    ("verify_attached", Says(&[ATTACHED])),
    ("snapshot_fd", Says(&[NULL, "`fd` is -1"])),
    ("snapshot_format", Says(&[NULL, "AL_HPROF"])),
    ("profile_closed", Says(&["the system refused", "987"])),
    ("jump_with_reset", Says(&["no error"])),
    ("jump_without_reset", Aborts(&["al_detach", "frames are still linked"])),
    ("no_such_code", Says(&["no code of this library"])),
];

#[test]
fn each_wrong_input_gets_its_answer() {
    let compiler = &compilers()[0];
    let program = build(compiler, "c/inputs.c", "inputs", &["-O0", "-Wno-clobbered"]);
    let list = text(&run(&program, &["list"], "", 10));
    let listed: Vec<&str> = list.lines().collect();
    assert_eq!(listed, CASES.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "all cases, in order");
    for options in ["", "Collector=shenandoah"] {
        for (case, end) in CASES {
            let output = run(&program, &[case], options, 60);
            let said = text(&output);
            let (parts, aborts) = match end {
                Says(parts) => (parts, false),
                Aborts(parts) => (parts, true),
            };
            assert!(parts.iter().all(|part| said.contains(part)), "{case}, {options:?}: {said}");
            assert!(!said.contains("::"), "{case}: a C program does not know these names: {said}");
            if aborts {
                let code = output.status.code();
                assert!(
                    output.status.signal() == Some(6) || code == Some(134),
                    "{case}: {:?}",
                    output.status
                );
                let own = String::from_utf8_lossy(&output.stderr);
                let lines = own.lines().filter(|line| line.starts_with("allotment: ")).count();
                assert_eq!(lines, 1, "{case}: {own}");
            } else {
                assert!(output.status.success(), "{case}, {options:?}: {said}");
            }
        }
    }
}
