//! The experiment `store` from the outside: what is reported of each mode, alone, with company and
//! with several threads.

use super::allotment;
use serde_json::Value;
use std::fs;

/// The entries of a short run.
fn run(arguments: &[&str]) -> Vec<Value> {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args(["run", "store", "--quick", "--forks=1", "--warmup-iterations=0", "--iterations=2"]);
    command.args(["--time=10ms", "--ticks=3000", "--heap=16m", "--json"]).arg(&json);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&fs::read(&json).unwrap()).unwrap()
}

fn metric(entry: &Value, label: &str) -> Option<f64> {
    entry["secondaryMetrics"][label]["score"].as_f64()
}

#[test]
fn each_mode_reports_its_own() {
    let entries = run(&[
        "--mode=put,put-random,get,scan,mixed",
        "--collector=parallel,shenandoah,btreemap",
        "--range=20",
        "--threads=2",
    ]);
    assert_eq!(entries.len(), 15);
    for entry in &entries {
        let mode = entry["benchmark"].as_str().unwrap().strip_prefix("store.").unwrap();
        let in_heap = entry["params"]["collector"] != "btreemap";
        assert_eq!(entry["primaryMetric"]["scoreUnit"], "ops/ms");
        assert!(entry["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{entry}");
        assert_eq!(metric(entry, "block.fill").is_some_and(|fill| fill > 30.0), in_heap, "{entry}");
        assert_eq!(metric(entry, "heap.peak").is_some(), in_heap, "{entry}");
        assert_eq!(metric(entry, "found").is_some(), matches!(mode, "get" | "mixed"), "{entry}");
        assert_eq!(metric(entry, "scan.ticks").is_some(), matches!(mode, "scan" | "mixed"), "{entry}");
        assert_eq!(metric(entry, "scan.rate").is_some(), mode == "scan", "{entry}");
    }
}

#[test]
fn a_store_is_measured_alone_and_with_company() {
    let entries = run(&["--collector=parallel,btreemap", "--mode=get", "--neighbours=1:64k"]);
    let found: Vec<(&str, bool)> = entries
        .iter()
        .map(|entry| {
            let collector = entry["params"]["collector"].as_str().unwrap();
            (collector, metric(entry, "neighbours.rate").is_some())
        })
        .collect();
    assert_eq!(found, [("parallel", false), ("parallel", true), ("btreemap", false), ("btreemap", true)]);
}
