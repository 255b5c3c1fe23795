//! A system that gives little: no threads, no processes, no disk, no folders, nobody who reads.

use super::own_folder::{VARIABLE, own_folder};
use super::{SHORT, allotment};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// The shell, in front of the command that it is to replace itself with: `"$@"` in `script`.
fn shell(script: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_allotment")]).args(arguments);
    command.env_remove("ALLOTMENT_OPTIONS").env(VARIABLE, own_folder());
    command.stdin(Stdio::null()).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A limit on processes binds nobody who may do everything, so this needs another user: one who has
/// no other processes. Without the right to become one there is nothing to test.
#[test]
fn a_system_without_threads_or_processes_is_told_of_and_nothing_panics() {
    const USER: u32 = 64_123;
    let mut may = Command::new("setpriv");
    may.args([format!("--reuid={USER}"), "--clear-groups".into(), "prlimit".into(), "--version".into()]);
    may.stdout(Stdio::null()).stderr(Stdio::null());
    if !may.status().is_ok_and(|status| status.success()) {
        eprintln!("left out: this user cannot become another");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program: PathBuf = directory.path().join("allotment");
    fs::copy(env!("CARGO_BIN_EXE_allotment"), &program).unwrap();
    let run = |limit: u32, more: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={USER}"), "--clear-groups".into(), "prlimit".into()]);
        command.arg(format!("--nproc={limit}:{limit}")).arg(&program);
        command.env(VARIABLE, directory.path());
        command.args(SHORT).args(more).env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).output().unwrap()
    };
    let mut failed = 0;
    for limit in 1..=7 {
        for more in [&[][..], &["--neighbours=1:1m"], &["--await-cpus=1ms"], &["--profile"]] {
            let output = run(limit, more);
            let told = told(&output);
            assert!(
                !told.contains("panicked") && !told.contains("RUST_BACKTRACE"),
                "{limit} {more:?}: {told}"
            );
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 1)), "{limit} {more:?}: {output:?}");
            if code == Some(1) {
                failed += 1;
                let last = told.lines().last().unwrap_or_default();
                assert!(last.starts_with("allotment: "), "{limit} {more:?}: {told}");
                assert!(last.contains("os error 11") || last.contains("temporarily unavailable"), "{last}");
            }
        }
    }
    assert!(failed >= 8, "a limit of one process must be felt: {failed}");
}

#[test]
fn a_full_disk_and_a_reader_that_has_gone_are_told_apart() {
    for arguments in [&["list"][..], &["machine"], &["options"], &["--help"], &SHORT] {
        let full = shell("exec \"$@\" > /dev/full", arguments);
        assert_eq!(full.status.code(), Some(1), "{arguments:?}: {full:?}");
        let line = told(&full);
        let line = line.lines().last().unwrap();
        assert_eq!(line.matches("No space left").count(), 1, "{line}");
        assert!(line.starts_with("allotment: cannot write to standard output: No space left"), "{line}");
        let gone = shell("\"$@\" | :; exit 0", arguments);
        assert!(!told(&gone).contains("panicked") && !told(&gone).contains("allotment: "), "{gone:?}");
        let closed = shell("exec \"$@\" >&- 2>&-", arguments);
        assert_eq!(closed.status.code(), Some(0), "{arguments:?}: {closed:?}");
    }
    for flag in ["--json", "--csv", "--report"] {
        let full = allotment().args(SHORT).args([flag, "/dev/full"]).output().unwrap();
        assert_eq!(full.status.code(), Some(1), "{flag}: {full:?}");
        let line = told(&full);
        let line = line.lines().last().unwrap();
        assert_eq!(line.matches("No space left").count(), 1, "{flag}: {line}");
        assert!(line.starts_with("allotment: cannot write `/dev/full`: "), "{flag}: {line}");
    }
}

/// Regression: the signal of the limit ended the process.
#[test]
fn a_limit_on_file_sizes_is_told_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let printed = shell(&format!("ulimit -f 0; exec \"$@\" > '{}'", at("printed").display()), &["list"]);
    assert_eq!(printed.status.code(), Some(1), "{printed:?}");
    let line = told(&printed);
    assert!(line.starts_with("allotment: cannot write to standard output: File too large"), "{line}");
    let json = at("results.json");
    fs::write(&json, "old").unwrap();
    let arguments = [&SHORT[..], &["--json", json.to_str().unwrap()]].concat();
    let written = shell("ulimit -f 0; exec \"$@\"", &arguments);
    assert_eq!(written.status.code(), Some(1), "{written:?}");
    let expected = format!("cannot write `{}`: File too large", json.display());
    assert!(told(&written).contains(&expected), "{}", told(&written));
    assert_eq!(fs::read_to_string(&json).unwrap(), "old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "no partial file");
}

/// Neither a home, nor a folder for temporary files, nor a current folder that can be written to.
#[test]
fn a_run_needs_no_folder() {
    let mut command = allotment();
    command.args(SHORT).env_clear().env("TMPDIR", "/no/such/folder").current_dir("/proc/self");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn lines_are_as_wide_as_columns_says() {
    let output = allotment().args(SHORT).env("COLUMNS", "60").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("clock.tsc: Mode avgt"), "{text}");
    let wide: Vec<&str> =
        text.lines().filter(|line| line.chars().count() > 60 && !line.starts_with("# ")).collect();
    assert_eq!(wide, [""; 0]);
}
