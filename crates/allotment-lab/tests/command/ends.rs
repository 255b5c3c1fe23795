//! Runs that end early: by the user, or by a fork that dies.

use super::allotment;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Sends a signal without a crate for it.
fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

/// Starts a run of three cases that writes `r.json` and `r.csv` into a directory, each iteration of that time, and calls `act`
/// when the case of `mode` has begun.
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

/// The rows of `r.json`, each of which says that so much is missing of the run; so do those of `r.csv`.
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
        assert!(table.contains("iterations are missing"), "{table}");
    }
    let compared = allotment().arg("compare").args([&json, &json]).output().unwrap();
    let text = String::from_utf8(compared.stdout).unwrap();
    assert!(
        compared.status.success() && text.contains(&format!("r.json` is incomplete: {incomplete}")),
        "{text}"
    );
}

#[test]
fn a_fork_that_dies_costs_its_own_case_only() {
    let directory = tempfile::tempdir().unwrap();
    let (code, table, errors) = interrupted(directory.path(), "400ms", "tsc", |parent| {
        // The fork is the parent's only child.
        let children = format!("/proc/{parent}/task/{parent}/children");
        let child = loop {
            let text = fs::read_to_string(&children).unwrap();
            if let Some(child) = text.split_whitespace().next() {
                break child.parse().unwrap();
            }
        };
        signal("-KILL", child);
    });
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("clock.tsc") && errors.contains("killed by signal 9"), "{errors}");
    assert!(table.contains("failed: clock.tsc"), "{table}");
    let entries = marked(directory.path(), "1 of 3 cases not measured");
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry["benchmark"].as_str()).collect();
    assert_eq!(names, ["clock.empty", "clock.coarse"]);
}
