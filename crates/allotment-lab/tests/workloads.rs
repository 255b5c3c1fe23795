//! Workloads on a collected heap, from the outside: what is reported of each, and what a full heap looks like.

use serde_json::Value;
use std::fs;
use std::process::{Command, Output, Stdio};

/// Everything short; arguments are added.
fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).arg("run").args(arguments);
    command.args(["--quick", "--forks=1", "--warmup-iterations=0", "--collector=mark-compact"]);
    command.output().unwrap()
}

#[test]
fn each_workload_reports_what_its_heap_did() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut arguments = vec!["trees", "graph", "lists", "--iterations=1", "--time=100ms", "--threads=1,2"];
    arguments.extend([
        "--depth=8",
        "--rounds=1000",
        "--heap=16m",
        "--live=1m",
        "--factor=4",
        "--nodes=20000",
    ]);
    arguments.extend(["--json", json.to_str().unwrap()]);
    let output = run(&arguments);
    assert!(output.status.success(), "{output:?}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let rows: Vec<String> =
        entries.iter().map(|entry| format!("{} {}", entry["benchmark"], entry["threads"])).collect();
    let lists = "\"lists.forced\" 1";
    let queues = ["\"lists.queue\" 1", "\"lists.queue\" 2"];
    assert_eq!(
        rows[..4],
        ["\"trees.build\" 1", "\"trees.build\" 2", "\"trees.spans\" 1", "\"trees.spans\" 2"]
    );
    assert_eq!(rows[4..6], ["\"graph.mutate\" 1", "\"graph.mutate\" 2"]);
    assert_eq!(rows[6..], [lists, lists, queues[0], queues[1]]);
    for entry in &entries {
        let value = |label: &str| {
            entry["secondaryMetrics"][label]["score"].as_f64().unwrap_or_else(|| panic!("{label}: {entry}"))
        };
        assert!(entry["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{entry}");
        // The others have as many collections as their time allows, perhaps none.
        let is_shot = entry["mode"] == "ss";
        assert!(value("gc.young") == 0.0 && (value("gc.full") >= 1.0 || !is_shot), "{entry}");
        if value("gc.full") >= 1.0 {
            let (p50, p99, max) = (value("pause.p50"), value("pause.p99"), value("pause.max"));
            assert!(p50 <= p99 && p99 <= max && max <= value("pause.total"), "{entry}");
            assert!(value("gc.full.object") > 0.0, "{entry}");
        }
        assert!(value("gc.moved") >= 0.0 && value("tlab.waste") >= 0.0, "{entry}");
        assert!(value("heap.peak") >= 1.0 && value("rss.peak") >= value("rss"), "{entry}");
        // What a shot prepares is not in it.
        assert!(entry["benchmark"] != "lists.forced" || value("gc.full") == 1.0, "{entry}");
    }
    assert_eq!(entries[0]["primaryMetric"]["scoreUnit"], "s/op");
    assert_eq!(entries[4]["mode"], "thrpt");
    assert_eq!(entries[6]["primaryMetric"]["scoreUnit"], "ns/op");
}

#[test]
fn a_full_heap_is_an_error_of_the_case_and_says_what_fits() {
    for (arguments, hint) in [
        (&["trees", "--heap=8m", "--threads=1"][..], "the heap is full before the first shot"),
        (&["trees", "--heap=13m", "--depth=15", "--threads=1", "--rounds=1"], "a larger --heap"),
        (&["graph", "--live=16m", "--factor=0.5", "--threads=1"], "a larger --factor"),
        (&["lists", "--mode=queue", "--factor=0.1", "--threads=1"], "a larger --factor fits"),
    ] {
        let output = run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("out of memory") && errors.contains(hint), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn a_collector_that_does_not_exist_is_told_of_before_anything_is_measured() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    let output = command.args(["run", "trees", "--collector", "train"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1), "{errors}");
    assert!(errors.contains("mark-compact"), "{errors}");
}
