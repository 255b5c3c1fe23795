//! What surrounds the heap in a C program: vector registers, coroutines, files that are compiled in
//! different ways, C++ objects that own handles.

mod common;

use common::{PACKAGE, STRICT, build, compilers, run, scratch, text};
use std::path::Path;

/// Slow paths keep no upper halves of vectors, so the compiler has to know it: even in functions
/// whose target has more registers than that of their file.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_function_with_a_target_of_its_own_keeps_its_vectors() {
    for compiler in compilers() {
        for flags in [&["-O2"][..], &["-O0"], &["-O2", "-DAL_PLAIN_CALLS"]] {
            // With plain calls the compiler knows, and the stub is not called.
            if flags.contains(&"-DAL_PLAIN_CALLS") {
                build(compiler, "c/registers.c", "registers-plain", flags);
                continue;
            }
            let program = build(compiler, "c/registers.c", "registers", flags);
            let output = run(&program, &[], "", 60);
            assert!(output.status.success(), "{} {flags:?}: {}", compiler.name(), text(&output));
        }
    }
}

#[test]
fn coroutines_keep_their_frames() {
    for compiler in compilers() {
        for flags in [&["-O2"][..], &["-O1", "-DAL_CHECK"]] {
            let program = build(compiler, "c/coroutines.c", "coroutines", &[&["-std=gnu11"], flags].concat());
            for collector in ["mark-compact", "parallel", "shenandoah,ShenandoahGCMode=generational"] {
                let options = format!("Collector={collector},ZealInterval=1,+ZealMove,+VerifyAfterGC");
                let output = run(&program, &[], &options, 60);
                let name = compiler.name();
                assert!(output.status.success(), "{name} {flags:?} {collector}: {}", text(&output));
            }
        }
    }
}

#[test]
fn files_with_and_without_checks_do_not_run_together() {
    for compiler in compilers() {
        for (first, second, fits) in [
            ("-DAL_CHECK", "-DAL_CHECK", true),
            ("-UAL_CHECK", "-UAL_CHECK", true),
            ("-UAL_CHECK", "-DAL_CHECK", false),
        ] {
            let other = scratch("other_mode.o");
            let mut command = compiler.start(false);
            command.args(STRICT).args(["-std=gnu11", "-c", second, "-o"]).arg(&other);
            let output = command.arg(Path::new(PACKAGE).join("tests/c/other_mode.c")).output();
            let output = output.expect("the compiler runs");
            assert!(output.status.success(), "{}", text(&output));
            let flags = ["-std=gnu11", first, other.to_str().expect("a path")];
            let program = build(compiler, "c/one_mode.c", "one_mode", &flags);
            let output = run(&program, &[], "", 60);
            let said = text(&output);
            assert_eq!(output.status.success(), fits, "{first} {second}: {said}");
            assert_eq!(said.contains("a file without AL_CHECK has linked a frame"), !fits, "{said}");
            assert!(fits || said.contains("other_mode.c:8"), "{said}");
        }
    }
}

/// Enumerations are as wide as the library's.
#[test]
fn short_enumerations_are_refused() {
    for compiler in compilers() {
        let mut command = compiler.start(false);
        command.args(["-std=c11", "-fshort-enums", "-c", "-o", "/dev/null"]);
        let output = command.arg(Path::new(PACKAGE).join("tests/c/other_mode.c")).output();
        let output = output.expect("the compiler runs");
        assert!(!output.status.success(), "{}", compiler.name());
        assert!(text(&output).contains("code_bytes"), "{}", text(&output));
    }
}

#[test]
fn handles_of_cxx_are_copied_and_moved_and_errors_are_whole() {
    for compiler in compilers() {
        for flags in [&["-std=c++17"][..], &["-std=c++17", "-DAL_CHECK"]] {
            let program = build(compiler, "c/owns.cc", "owns", flags);
            let output = run(&program, &[], "", 60);
            assert!(output.status.success(), "{} {flags:?}: {}", compiler.name(), text(&output));
        }
    }
}
