//! Modes whose work is code in C: with the compilers of this machine, without one, and with one that
//! fails.

use super::allotment;
use allotment_lab::c::{COMPILERS, Compiler};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

/// Short cases of mode `c`, with one beside them.
const SHORT: [&str; 11] = [
    "run",
    "tlab",
    "--quick",
    "--mode=tlab,c",
    "--size=16",
    "--threads=1",
    "--forks=1",
    "--iterations=3",
    "--warmup-iterations=0",
    "--time=5ms",
    "--eden=64k",
];

/// Runs [`SHORT`] with these arguments, where `PATH` is one folder.
fn run(path: &Path, arguments: &[&str]) -> Output {
    allotment().args(SHORT).args(arguments).env("PATH", path).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn each_compiler_of_the_machine_has_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("r.json");
    let done = allotment().args(SHORT).arg("--zeroing=per-object,ahead").arg("--json").arg(&json).output();
    let done = done.unwrap();
    assert!(done.status.success(), "{done:?}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows: Vec<_> = entries.iter().filter(|entry| entry["benchmark"] == "tlab.c").collect();
    let of = |cc: &str| rows.iter().filter(|row| row["params"]["cc"] == cc).count();
    for name in COMPILERS {
        let compiler = Compiler::find(name).ok();
        assert_eq!(of(name), if compiler.is_some() { 2 } else { 0 }, "{name}: {rows:?}");
        let Some(version) = compiler.and_then(|compiler| compiler.version()) else { continue };
        let facts = entries[0]["jvmArgs"].as_array().unwrap();
        assert!(facts.contains(&format!("{name}={version}").into()), "{facts:?}");
    }
    for row in &rows {
        assert!(row["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn without_a_compiler_the_rest_is_measured() {
    let none = tempfile::tempdir().unwrap();
    let mut command = allotment();
    command.args(["run", "trees", "--quick", "--depth=2", "--rounds=1", "--heap=32m", "--threads=1"]);
    command.args(["--collector=parallel", "--forks=1", "--iterations=1", "--warmup-iterations=0"]);
    let done = command.env("PATH", none.path()).output().unwrap();
    let (table, told) = texts(&done);
    assert!(
        done.status.success() && table.contains("\ntrees.build ") && !table.contains("trees.c"),
        "{done:?}"
    );
    for missing in ["no gcc is", "neither clang nor zig is"] {
        let left_out = format!("trees.c left out: {missing} on the PATH, and its work is code in C\n");
        assert!(told.contains(&left_out), "{told}");
    }
    // What the user names is not left out.
    let done = run(none.path(), &[]);
    let told = "nothing is left to measure with mode c: no gcc is on the PATH, and its work is code in C";
    assert!(done.status.code() == Some(2) && texts(&done).1.contains(told), "{done:?}");
}

#[test]
fn a_compiler_that_fails_is_told_of_and_the_rest_is_measured() {
    let tools = tempfile::tempdir().unwrap();
    let gcc = tools.path().join("gcc");
    for (behaviour, why) in [
        (
            "echo 'tlab.c:1: error: not today' >&2; exit 1",
            "does not build tlab.c: tlab.c:1: error: not today",
        ),
        ("exit 0", "the code of tlab.c cannot be loaded: "),
    ] {
        fs::write(&gcc, format!("#!/bin/sh\n{behaviour}\n")).unwrap();
        fs::set_permissions(&gcc, fs::Permissions::from_mode(0o755)).unwrap();
        let done = run(tools.path(), &["--cc=gcc"]);
        let (table, told) = texts(&done);
        assert!(done.status.code() == Some(1) && table.contains("\ntlab.tlab "), "{done:?}");
        let last = told.lines().last().unwrap();
        assert!(last.starts_with("allotment: tlab.c (") && last.contains(why), "{told}");
    }
}
