//! Readers that others wrote open our snapshots, and find what our own strict readers find.
//!
//! A strict reader checks what we know of a format; these check what their authors think of it. The
//! packages and their versions are in `package.json` and `pom.xml` beside this file. `.ci/run`
//! installs them into `target/readers`, and `ALLOTMENT_READERS` may name another directory. Where a
//! package or its interpreter is missing, a test says that it is left out; with
//! `ALLOTMENT_REQUIRE_READERS=1`, as `.ci/run` sets it, it fails. Refused: copies of these readers'
//! code here, which would never learn of a newer version.

mod hprof;
mod names;
mod v8;

use std::path::PathBuf;
use std::process::Command;

/// The directory of the readers, if `program` runs and all `parts` of the directory are there.
fn installed(program: &str, parts: &[&str]) -> Option<PathBuf> {
    let given = std::env::var_os("ALLOTMENT_READERS").map(PathBuf::from);
    let place =
        given.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/readers"));
    let runs = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    let missing = parts.iter().find(|part| !place.join(part).exists());
    let what = match missing {
        _ if !runs => format!("{program} does not run here"),
        Some(part) => format!("there is no {part} in {}", place.display()),
        None => return Some(place),
    };
    let required = std::env::var("ALLOTMENT_REQUIRE_READERS").is_ok_and(|value| value == "1");
    assert!(!required, "{what}, and the readers are required");
    eprintln!("left out: {what}");
    None
}

/// Runs a command that must succeed. Returns what it printed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let [printed, complaints] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}: {complaints}");
    printed.into_owned()
}
