//! Runs that end early: by the user, by a signal for all of them, or by a fork that dies.

use super::allotment;
use super::own_folder::{VARIABLE, own_folder};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sends a signal without a crate for it.
fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// Starts a run of three cases that writes `r.json` and `r.csv` into a directory, each iteration of
/// that time, and calls `act` when the case of `mode` has begun.
fn interrupted(
    directory: &Path,
    time: &str,
    mode: &str,
    act: impl FnOnce(u32),
) -> (Option<i32>, String, String) {
    let mut command = allotment();
    command.args(["run", "clock", "--threads=1", "--reads=64", "--mode=empty,tsc,coarse", "--forks=1"]);
    command.args(["--warmup-iterations=0", "--iterations=3", "--time", time]);
    command.arg("--json").arg(directory.join("r.json")).arg("--csv").arg(directory.join("r.csv"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(&format!("clock.{mode}")) {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "the case never began");
    }
    act(child.id());
    let output = child.wait_with_output().unwrap();
    let mut rest = String::new();
    while errors.read_line(&mut rest).unwrap() > 0 {}
    (output.status.code(), String::from_utf8(output.stdout).unwrap(), rest)
}

/// The rows of `r.json`, each of which says that so much is missing of the run; so do those of
/// `r.csv`.
fn marked(directory: &Path, incomplete: &str) -> Vec<Value> {
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(directory.join("r.json")).unwrap()).unwrap();
    for entry in &entries {
        let mark = entry["jvmArgs"].as_array().unwrap().last().unwrap();
        assert_eq!(mark, &format!("incomplete={incomplete}"), "{entry}");
    }
    let mut reader = csv::Reader::from_path(directory.join("r.csv")).unwrap();
    let headers = reader.headers().unwrap().clone();
    assert_eq!(headers.iter().next_back(), Some("Incomplete"));
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(records.len() >= entries.len());
    assert!(records.iter().all(|record| record.iter().next_back() == Some(incomplete)), "{records:?}");
    entries
}

#[test]
fn a_run_without_results_leaves_the_files_as_they_were() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    fs::write(&json, "old").unwrap();
    let (code, table, _) = interrupted(directory.path(), "10min", "empty", |process| signal("-INT", process));
    assert_eq!(code, Some(130));
    assert!(table.contains("interrupted: no results, and no file is written"), "{table}");
    assert_eq!(fs::read_to_string(&json).unwrap(), "old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "neither a CSV nor temporary files");
}

#[test]
fn an_interrupted_run_keeps_and_marks_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let (code, table, _) = interrupted(directory.path(), "400ms", "tsc", |process| signal("-INT", process));
    assert_eq!(code, Some(130));
    assert!(table.contains("interrupted: partial results"), "{table}");
    assert!(table.contains("not measured: clock.coarse"), "{table}");
    let left = table.matches("not measured: ").count();
    let incomplete = format!("interrupted, {left} of 3 cases not measured");
    let entries = marked(directory.path(), &incomplete);
    assert_eq!(entries[0]["benchmark"], "clock.empty");
    assert!(entries[0]["secondaryMetrics"].get("incomplete").is_none());
    assert!(entries.len() < 3);
    for entry in &entries[1..] {
        assert!(entry["secondaryMetrics"]["incomplete"]["score"].as_f64().unwrap() >= 1.0);
        assert!(table.contains("of 3 iterations "), "{table}");
    }
    let compared = allotment().arg("compare").args([&json, &json]).output().unwrap();
    let text = String::from_utf8(compared.stdout).unwrap();
    assert!(
        compared.status.success() && text.contains(&format!("r.json` is incomplete: {incomplete}")),
        "{text}"
    );
}

/// The fork of a run, which is the parent's only child.
fn child_of(parent: u32) -> u32 {
    let children = format!("/proc/{parent}/task/{parent}/children");
    loop {
        let text = fs::read_to_string(&children).unwrap();
        if let Some(child) = text.split_whitespace().next() {
            return child.parse().unwrap();
        }
    }
}

/// `timeout` signals its child, and then the group that the child is in: the second is the same
/// request.
#[test]
fn a_run_that_timeout_ends_leaves_its_file_every_time() {
    let directory = tempfile::tempdir().unwrap();
    let start = |index: u32| {
        let json = directory.path().join(format!("{index}.json"));
        let mut command = Command::new("timeout");
        command.args(["4", env!("CARGO_BIN_EXE_allotment"), "run", "clock", "--threads=1", "--reads=64"]);
        command.arg("--ignore-lock");
        command.args([
            "--mode=tsc",
            "--forks=1",
            "--warmup-iterations=0",
            "--iterations=9999",
            "--time=10ms",
        ]);
        command.arg("--json").arg(&json).env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (json, child)
    };
    let started: Vec<_> = (0..10).map(start).collect();
    for (json, child) in started {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(124), "that of timeout: {output:?}");
        let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(entries[0]["benchmark"], "clock.tsc");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("warning: interrupted: the results are partial"), "{told}");
    }
}

/// As a terminal or the end of a session does it: each signal twice, to the run and to its fork.
#[test]
fn a_signal_for_all_processes_keeps_what_was_measured() {
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let directory = tempfile::tempdir().unwrap();
        let (code, table, told) = interrupted(directory.path(), "400ms", "tsc", |parent| {
            let (parent, fork) = (parent.to_string(), child_of(parent).to_string());
            let all = [name, &fork, &parent, &parent, &fork];
            // The fork may have gone by the second time.
            let _ = Command::new("kill").args(all).stderr(Stdio::null()).status().unwrap();
        });
        assert_eq!(code, Some(130), "{name}: {told}");
        assert!(
            table.contains("interrupted: partial results") && !table.contains("failed: "),
            "{name}: {table}"
        );
        assert!(told.contains("warning: interrupted: the results are partial"), "{name}: {told}");
        let left = table.matches("not measured: ").count();
        let entries = marked(directory.path(), &format!("interrupted, {left} of 3 cases not measured"));
        assert_eq!(entries[0]["benchmark"], "clock.empty", "{name}");
    }
}

/// SIGQUIT asks as the others do: files are whole or as they were, and nothing lies beside them.
#[test]
fn each_signal_ends_a_run_in_order_and_leaves_no_other_file() {
    for name in ["-INT", "-TERM", "-HUP", "-QUIT"] {
        let directory = tempfile::tempdir().unwrap();
        let (code, table, told) =
            interrupted(directory.path(), "400ms", "tsc", |parent| signal(name, parent));
        assert_eq!(code, Some(130), "{name}: {told}");
        assert!(table.contains("interrupted: partial results"), "{name}: {table}");
        let entries: Vec<Value> =
            serde_json::from_slice(&fs::read(directory.path().join("r.json")).unwrap()).unwrap();
        assert_eq!(entries[0]["benchmark"], "clock.empty", "{name}");
        let mut files: Vec<_> =
            fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        files.sort();
        assert_eq!(files, ["r.csv", "r.json"], "{name}");
    }
}

/// Nobody can hear SIGKILL; so nothing may lie there that would have to be removed.
#[test]
fn a_run_that_is_killed_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let (code, _, _) = interrupted(directory.path(), "10min", "empty", |parent| signal("-KILL", parent));
    assert_eq!(code, None);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_signal_that_was_ignored_before_the_run_stays_ignored() {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_allotment")]).args(
        super::SHORT
            .iter()
            .map(|word| if word.starts_with("--iterations") { "--iterations=30" } else { word }),
    );
    command.env_remove("ALLOTMENT_OPTIONS").env(VARIABLE, own_folder()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("clock.") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "no case ever began");
    }
    signal("-HUP", child.id());
    while errors.read_line(&mut line).unwrap() > 0 {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{line}");
}

#[test]
fn a_fork_that_dies_costs_its_own_case_only() {
    let directory = tempfile::tempdir().unwrap();
    let (code, table, errors) = interrupted(directory.path(), "400ms", "tsc", |parent| {
        signal("-KILL", child_of(parent));
    });
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("clock.tsc") && errors.contains("killed by signal 9"), "{errors}");
    assert!(table.contains("failed: clock.tsc"), "{table}");
    let mut entries: Vec<Value> =
        serde_json::from_slice(&fs::read(directory.path().join("r.json")).unwrap()).unwrap();
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry["benchmark"].as_str()).collect();
    assert_eq!(names, ["clock.empty", "clock.tsc", "clock.coarse"]);
    let failed = entries[1]["jvmArgs"].as_array_mut().unwrap().pop().unwrap();
    assert!(failed.as_str().unwrap().starts_with("failed=fork 1 of 1: it "), "{failed}");
    assert!(failed.as_str().unwrap().contains("killed by signal 9"), "{failed}");
    assert_eq!(entries[1]["primaryMetric"]["score"], "NaN");
    for entry in &entries {
        let mark = entry["jvmArgs"].as_array().unwrap().last().unwrap();
        assert_eq!(mark, "incomplete=1 of 3 cases failed");
    }
    let mut reader = csv::Reader::from_path(directory.path().join("r.csv")).unwrap();
    let headers = reader.headers().unwrap().clone();
    let column = headers.iter().position(|title| title == "Failed").unwrap();
    let failed = |record: &csv::StringRecord| record[column].contains("killed by signal 9");
    let of_failed = |record: &csv::StringRecord| record[0].starts_with("clock.tsc");
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(records.iter().all(|record| failed(record) == of_failed(record)), "{records:?}");
    let line = table.lines().find(|line| line.starts_with("clock.tsc*")).unwrap();
    assert!(line.contains(" failed "), "{line}");
}
