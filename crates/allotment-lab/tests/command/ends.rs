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

/// Starts a run of three cases and calls `act` when its second case has begun.
fn interrupted(json: &Path, act: impl FnOnce(u32)) -> (Option<i32>, String, String) {
    let mut command = allotment();
    command.args(["run", "clock", "--threads=1", "--reads=64", "--mode=empty,tsc,coarse", "--forks=1"]);
    command.args(["--warmup-iterations=0", "--iterations=3", "--time=400ms", "--json"]).arg(json);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("clock.tsc") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "the second case never began");
    }
    act(child.id());
    let output = child.wait_with_output().unwrap();
    let mut rest = String::new();
    while errors.read_line(&mut rest).unwrap() > 0 {}
    (output.status.code(), String::from_utf8(output.stdout).unwrap(), rest)
}

#[test]
fn an_interrupted_run_keeps_and_marks_what_it_has() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let (code, table, _) = interrupted(&json, |process| signal("-INT", process));
    assert_eq!(code, Some(130));
    assert!(table.contains("interrupted: partial results"), "{table}");
    assert!(table.contains("not measured: clock.coarse"), "{table}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(entries[0]["benchmark"], "clock.empty");
    assert!(entries[0]["secondaryMetrics"].get("incomplete").is_none());
    assert!(entries.len() < 3);
    for entry in &entries[1..] {
        assert!(entry["secondaryMetrics"]["incomplete"]["score"].as_f64().unwrap() >= 1.0);
        assert!(table.contains("iterations are missing"), "{table}");
    }
}

#[test]
fn a_fork_that_dies_costs_its_own_case_only() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let (code, table, errors) = interrupted(&json, |parent| {
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
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry["benchmark"].as_str()).collect();
    assert_eq!(names, ["clock.empty", "clock.coarse"]);
}
