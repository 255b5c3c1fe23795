//! `allotment asm` from the outside: that it prints, profiles and fails as commands do.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn asm(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.arg("asm").args(arguments).env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null());
    command
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn it_prints_both_sequences() {
    let text =
        text(asm(&["--processor", "zen", "--style", "2", "--instr", "t0", "--size", "64"]).output().unwrap());
    for expected in [
        "AllocatePrefetchStyle=2 AllocatePrefetchDistance=256",
        "-XX:AllocatePrefetchStyle=2 -XX:AllocatePrefetchDistance=256",
        "lea rcx, [rax + 64]",
        "lea r10, [rax + 64]",
        "ours: in line",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn it_profiles() {
    // A machine with much else to do may not look at the thread's clock in the first of these
    // times.
    let profiled = ["300ms", "2s", "8s"].into_iter().find_map(|time| {
        let text = text(asm(&["--profile", time, "--eden", "256k"]).output().unwrap());
        let profile = text.lines().find(|line| line.starts_with("profile: ")).unwrap();
        assert!(profile.contains("eden 256k; "), "{profile}");
        let samples: u64 = profile.split(' ').nth(1).unwrap().parse().unwrap();
        (samples > 0).then_some(text)
    });
    let text = profiled.expect("samples");
    // All shares together are the whole, but for rounding.
    let shares = text.lines().filter_map(|line| line.trim_start().split_once('%')?.0.parse::<f64>().ok());
    let sum: f64 = shares.sum();
    assert!((sum - 100.0).abs() < 2.0, "{sum}: {text}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn a_heap_that_the_environment_spoils_is_said_in_one_line() {
    let output = asm(&["--profile", "1ms"]).env("ALLOTMENT_OPTIONS", "TLABSise=1m").output().unwrap();
    let text = text(output);
    assert!(
        text.lines().any(|line| line.starts_with("not sampled: ") && line.contains("TLABSize")),
        "{text}"
    );
}

#[test]
fn mistakes_are_one_line_and_exit_code_2() {
    for (arguments, hint) in [
        (&["--processor", "zen", "--size", "17"][..], "16 is the nearest"),
        (&["--processor", "zen", "--distance", "600"], "512 is the nearest"),
        #[cfg(target_arch = "x86_64")]
        (&["--profile", "1ms", "--eden", "16"], "64 is the nearest"),
        #[cfg(not(target_arch = "x86_64"))]
        (&["--profile", "1ms"], "--profile needs x86-64, and this machine is "),
        #[cfg(not(target_arch = "x86_64"))]
        (&["--size", "64"], "name a processor of x86-64, such as --processor zen"),
        (&["--stile", "2"], "--style"),
    ] {
        let output = asm(arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), error.lines().count()), (Some(2), 1), "{error}");
        assert!(error.starts_with("allotment: ") && error.contains(hint), "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = asm(&["--processor", "zen", "--barriers"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 10];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
