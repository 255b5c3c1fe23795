//! What a C program sees of a heap, with each collector; exceptions that leave callbacks; a library
//! that is unloaded.

mod common;

use common::{build, compilers, library, run, scratch, text};
use std::os::unix::process::ExitStatusExt;

#[test]
fn a_program_sees_its_objects_figures_and_files() {
    for compiler in compilers() {
        let program = build(compiler, "c/looks.c", "looks", &["-O2"]);
        for collector in ["parallel", "mark-compact", "shenandoah", "epsilon"] {
            let folder = scratch(&format!("looks-{collector}"));
            std::fs::create_dir_all(&folder).unwrap();
            let options = format!("Collector={collector},MaxHeapSize=32m");
            let output = run(&program, &[&options, folder.to_str().unwrap()], "", 60);
            assert!(output.status.success(), "{collector}, {}: {}", compiler.name(), text(&output));
            let snapshot = std::fs::read_to_string(folder.join("attached.heapsnapshot")).unwrap();
            assert!(snapshot.contains("\"snapshot\"") && snapshot.trim_end().ends_with('}'), "{collector}");
        }
    }
}

/// A C++ exception does not pass through the library.
#[test]
fn an_exception_that_leaves_a_callback_ends_the_process() {
    // zig builds a C++ library of its own first, which takes minutes.
    for compiler in compilers().iter().filter(|compiler| !compiler.is_zig()) {
        let program = build(compiler, "c/throws.cc", "throws", &["-std=c++17"]);
        assert!(run(&program, &["nothing"], "", 60).status.success());
        let cases =
            ["provider", "stop", "walk", "roots", "trace", "collection", "limit", "census", "metrics"];
        for (case, options) in
            cases.iter().flat_map(|case| ["", "Collector=shenandoah"].map(|with| (case, with)))
        {
            let output = run(&program, &[case], options, 60);
            let said = text(&output);
            let code = output.status.code();
            assert!(output.status.signal() == Some(6) || code == Some(134), "{case}, {options}: {said}");
            assert!(said.contains("an exception leaves the callback: catch it there"), "{case}: {said}");
        }
    }
}

#[test]
fn a_library_that_is_unloaded_serves_threads_that_end_later() {
    let program = build(&compilers()[0], "c/unloads.c", "unloads", &["-ldl"]);
    for how in ["detached", "attached"] {
        let output = run(&program, &[library("so").to_str().unwrap(), how], "", 60);
        let said = text(&output);
        assert!(output.status.success() && said.contains("well"), "{how}: {} {said}", output.status);
        assert_eq!(said.contains("ended while it was attached"), how == "attached", "{said}");
    }
}
