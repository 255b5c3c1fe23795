//! What surrounds the heap in a C program: vector registers, coroutines, files that are compiled in
//! different ways, C++ objects that own handles.

mod common;

use common::{build, compilers, run, text};

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
