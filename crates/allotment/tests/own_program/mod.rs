//! A test's own program, to be run again.

use std::process::Command;

/// The variable by which cargo runs AArch64 programs on another machine, under an emulator. The
/// emulator cannot start a program of its own machine, so a test that starts itself does the same.
const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";

/// A command that runs the test's own program.
pub(crate) fn own_program() -> Command {
    let program = std::env::current_exe().expect("a test has a path");
    let runner =
        if cfg!(target_arch = "aarch64") { std::env::var(RUNNER).unwrap_or_default() } else { String::new() };
    let mut words = runner.split_whitespace();
    let Some(first) = words.next() else { return Command::new(program) };
    let mut command = Command::new(first);
    command.args(words).arg(program);
    command
}
