//! The built command, from the outside: what it prints, what it writes, how it fails.

mod ask;
mod before;
mod code_in_c;
mod ends;
mod heap;
mod limits;
mod mistakes;
#[path = "../own_folder/mod.rs"]
mod own_folder;
mod profile;
mod runs;
mod simulate;
mod store;
mod truth;

use own_folder::{VARIABLE, own_folder};
use std::process::{Command, Output, Stdio};

fn allotment() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env_remove("ALLOTMENT_OPTIONS").env(VARIABLE, own_folder()).stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    allotment().args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code, and the text of both outputs.
fn code_and_text(arguments: &[&str]) -> (i32, String) {
    with_input(arguments, Stdio::null())
}

/// The same with a standard input.
fn with_input(arguments: &[&str], input: impl Into<Stdio>) -> (i32, String) {
    let output = allotment().stdin(input).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// The exit code and the one line on standard error.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = output(arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("allotment: "), "{line}");
    (output.status.code().unwrap(), line)
}

/// The shortest run that has errors: one fork, three iterations.
const SHORT: [&str; 12] = [
    "run",
    "clock",
    "--quick",
    "--forks=1",
    "--iterations=3",
    "--warmup-iterations=1",
    "--warmup-time=5ms",
    "--time=10ms",
    "--threads=1",
    "--reads=64",
    "--mode=tsc,monotonic",
    "--jmh-mode=avgt",
];

#[test]
fn list_names_experiments_modes_and_parameters() {
    let text = stdout(&["list"]);
    for expected in ["clock:", "monotonic", "--reads", "[1,64; quick 64]", "avgt, sample"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn machine_describes_this_one() {
    let text = stdout(&["machine"]);
    for name in [
        "processor",
        "L1d",
        "pages",
        "huge pages",
        "kernel",
        "clock source",
        "clock read",
        "counters",
        "memory",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn options_prints_the_manual_and_refuses_a_wrong_environment() {
    assert!(stdout(&["options"]).contains("TLABSize"));
    let set = allotment().arg("options").env("ALLOTMENT_OPTIONS", "TLABSize=128k").output().unwrap();
    assert!(String::from_utf8(set.stdout).unwrap().contains("128k"));
    let wrong = allotment().arg("options").env("ALLOTMENT_OPTIONS", "TLABSise=1m").output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("TLABSize"));
}

#[test]
fn help_and_version_are_no_errors() {
    assert!(stdout(&["--help"]).contains("Usage: allotment"));
    assert!(stdout(&["run", "--help"]).contains("--reads"));
    assert_eq!(stdout(&["--version"]).trim(), format!("allotment {}", env!("CARGO_PKG_VERSION")));
    assert!(stdout(&["--help"]).contains("Exit codes:"));
    assert!(!stdout(&["--help"]).contains("fork"), "the command for forks is hidden");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = allotment().arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_fork_without_an_order_says_so() {
    let (code, line) = failure(&["fork"]);
    assert_eq!(code, 1);
    assert!(line.contains("started by `allotment run`"), "{line}");
}
