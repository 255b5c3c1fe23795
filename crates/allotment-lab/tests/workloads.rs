//! Workloads on a collected heap, from the outside: what is reported of each, and what a full heap
//! looks like.

mod own_folder;

use allotment_lab::c::{COMPILERS, Compiler};
use own_folder::{VARIABLE, own_folder};
use serde_json::Value;
use std::fs;
use std::process::{Command, Output, Stdio};

const COLLECTORS: [&str; 3] = ["mark-compact", "parallel", "shenandoah"];

/// Everything short, on one collector; arguments are added.
fn run(collector: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).arg("run").args(arguments);
    command.args(["--quick", "--forks=1", "--warmup-iterations=0", "--collector", collector]);
    command.output().unwrap()
}

/// Collections of all kinds.
fn collections(entry: &Value) -> f64 {
    let count = |label: &str| entry["secondaryMetrics"][label]["score"].as_f64().unwrap_or(0.0);
    ["gc.young", "gc.full", "gc.concurrent", "gc.degenerated"].into_iter().map(count).sum()
}

/// The value of a metric, which must be there.
fn value(entry: &Value, label: &str) -> f64 {
    let score = entry["secondaryMetrics"][label]["score"].as_f64();
    score.unwrap_or_else(|| panic!("{label}: {entry}"))
}

#[test]
fn each_workload_reports_what_its_heap_did() {
    for collector in COLLECTORS {
        let directory = tempfile::tempdir().unwrap();
        let json = directory.path().join("r.json");
        let mut arguments =
            vec!["trees", "graph", "lists", "--iterations=1", "--time=100ms", "--threads=1,2"];
        arguments.extend([
            "--depth=8",
            "--rounds=1000",
            "--heap=16m",
            "--live=1m",
            "--factor=4",
            "--steps=500000",
            "--nodes=20000",
            "--await-cpus=10ms",
        ]);
        arguments.extend(["--json", json.to_str().unwrap()]);
        let output = run(collector, &arguments);
        assert!(output.status.success(), "{output:?}");
        let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        // One and two threads for each compiler of this machine.
        let (in_c, entries): (Vec<Value>, Vec<Value>) =
            entries.into_iter().partition(|entry| entry["benchmark"] == "trees.c");
        let compilers = COMPILERS.iter().filter(|name| Compiler::find(name).is_ok()).count();
        assert_eq!(in_c.len(), 2 * compilers, "{in_c:?}");
        in_c.iter().for_each(see_plausible);
        let rows: Vec<String> =
            entries.iter().map(|entry| format!("{} {}", entry["benchmark"], entry["threads"])).collect();
        let lists = "\"lists.forced\" 1";
        let queues = ["\"lists.queue\" 1", "\"lists.queue\" 2", "\"lists.shot\" 1", "\"lists.shot\" 2"];
        assert_eq!(
            rows[..4],
            ["\"trees.build\" 1", "\"trees.build\" 2", "\"trees.spans\" 1", "\"trees.spans\" 2"]
        );
        assert_eq!(
            rows[4..8],
            ["\"graph.mutate\" 1", "\"graph.mutate\" 2", "\"graph.shot\" 1", "\"graph.shot\" 2"]
        );
        assert_eq!(rows[8..10], [lists, lists]);
        assert_eq!(rows[10..], queues);
        for entry in &entries {
            see_plausible(entry);
            match collector {
                "parallel" => see_generations(entry),
                "shenandoah" => see_cycles(entry),
                _ => see_full_ones_only(entry),
            }
        }
        assert_eq!(entries[0]["primaryMetric"]["scoreUnit"], "s/op");
        assert_eq!(entries[4]["mode"], "thrpt");
        assert_eq!(entries[8]["primaryMetric"]["scoreUnit"], "ns/op");
        for entry in entries.iter().filter(|entry| entry["mode"] == "ss" && entry["threads"] == 2) {
            assert!(value(entry, "wall") > 0.0, "{entry}");
        }
    }
}

/// What holds on every collector.
fn see_plausible(entry: &Value) {
    let value = |label: &str| value(entry, label);
    assert!(entry["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{entry}");
    // What a shot has to collect follows from what it allocates; the others have as much time as
    // they have, perhaps for nothing.
    let collections = collections(entry);
    assert!(collections >= 1.0 || entry["mode"] != "ss", "{entry}");
    if collections >= 1.0 {
        let (p50, p99, max) = (value("pause.p50"), value("pause.p99"), value("pause.max"));
        assert!(p50 <= p99 && p99 <= max && max <= value("pause.total"), "{entry}");
    }
    if value("gc.full") >= 1.0 {
        assert!(value("gc.full.object") > 0.0, "{entry}");
    }
    assert!(value("gc.moved") >= 0.0 && value("tlab.waste") >= 0.0, "{entry}");
    assert!(value("heap.peak") >= 1.0 && value("rss.peak") >= value("rss"), "{entry}");
    if entry["benchmark"] == "lists.forced" {
        // What a shot prepares is not in it.
        assert_eq!((collections, value("gc.young")), (1.0, 0.0), "{entry}");
    }
}

fn see_full_ones_only(entry: &Value) {
    assert_eq!(value(entry, "gc.young"), 0.0, "{entry}");
    assert!(entry["secondaryMetrics"].get("plab.waste").is_none(), "{entry}");
}

fn see_generations(entry: &Value) {
    if entry["benchmark"].as_str().unwrap().starts_with("trees.") {
        // The top of the tree that lives on is young in the first shot.
        assert!(value(entry, "gc.young") >= 1.0 && value(entry, "gc.moved") > 0.0, "{entry}");
    }
    if value(entry, "gc.young") >= 1.0 && value(entry, "gc.full") == 0.0 && value(entry, "gc.moved") > 0.0 {
        assert!(value(entry, "gc.young.object") > 0.0, "{entry}");
        assert!((0.0..100.0).contains(&value(entry, "plab.waste")), "{entry}");
    }
}

/// A cycle is told with what ran beside the threads, and has several pauses.
fn see_cycles(entry: &Value) {
    assert_eq!(value(entry, "gc.young"), 0.0, "{entry}");
    let (concurrent, moved) = (value(entry, "gc.concurrent"), value(entry, "gc.moved"));
    let of_cycles = value(entry, "gc.moved.workers") + value(entry, "gc.moved.mutators");
    assert!(of_cycles <= moved + 1e-6, "{entry}");
    if concurrent >= 1.0 {
        assert!(value(entry, "concurrent.mark") <= value(entry, "concurrent.mark.max") + 1e-9, "{entry}");
        assert!(value(entry, "concurrent.total") > 0.0, "{entry}");
    }
}

/// Of which most wait for a CPU at any time: with little memory for each.
#[test]
fn a_hundred_threads_share_a_graph_and_end() {
    for collector in COLLECTORS {
        let directory = tempfile::tempdir().unwrap();
        let json = directory.path().join("r.json");
        let mut arguments = vec!["graph", "--mode=shot", "--threads=100", "--iterations=2", "--live=8m"];
        arguments.extend(["--factor=2", "--mix=arrays", "--steps=60000", "--json", json.to_str().unwrap()]);
        let output = run(collector, &arguments);
        assert!(output.status.success(), "{output:?}");
        let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        let [entry] = entries.as_slice() else { panic!("{output:?}") };
        assert_eq!((&entry["threads"], &entry["params"]["mix"]), (&100.into(), &"arrays".into()));
        assert_eq!(entry["primaryMetric"]["scoreUnit"], "ms/op");
        see_plausible(entry);
        // The shot's time is that until the last thread has ended, so all pauses are in it.
        // Parallel may collect between shots, and a cycle may begin before one.
        let score = entry["primaryMetric"]["score"].as_f64().unwrap();
        assert!(collector != "mark-compact" || score > value(entry, "pause.total"), "{entry}");
    }
}

#[test]
fn a_full_heap_is_an_error_of_the_case_and_says_what_fits() {
    for (arguments, hint) in [
        (&["trees", "--heap=8m", "--threads=1"][..], "the heap is full before the first shot"),
        (&["trees", "--heap=13m", "--depth=15", "--threads=1", "--rounds=1"], "a larger --heap"),
        (&["graph", "--mode=mutate", "--live=16m", "--factor=0.5", "--threads=1"], "a larger --factor"),
        (&["lists", "--mode=queue", "--factor=0.1", "--threads=1"], "a larger --factor fits"),
    ] {
        let output = run("mark-compact", arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {errors}");
        assert!(errors.contains("out of memory") && errors.contains(hint), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn a_collector_that_does_not_exist_is_told_of_before_anything_is_measured() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    let output = command.args(["run", "trees", "--collector", "train"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1), "{errors}");
    assert!(errors.contains("mark-compact"), "{errors}");
}

/// The others that are for any number of threads.
#[test]
fn a_hundred_threads_have_lists_and_caches_and_end() {
    for collector in COLLECTORS {
        let directory = tempfile::tempdir().unwrap();
        let json = directory.path().join("r.json");
        let mut arguments = vec!["lists", "weak", "--mode=shot", "--threads=100", "--iterations=2"];
        arguments.extend(["--nodes=20000", "--factor=1.5", "--steps=400000"]);
        arguments.extend(["--entries=100", "--window=10", "--heap=32m", "--lookups=60000"]);
        arguments.extend(["--json", json.to_str().unwrap()]);
        let output = run(collector, &arguments);
        assert!(output.status.success(), "{output:?}");
        let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(entries.len(), 2, "{output:?}");
        for (entry, part) in entries.iter().zip([4000.0, 600.0]) {
            // All begin and end together: a thread's time for its steps is the shot's.
            let own = entry["primaryMetric"]["score"].as_f64().unwrap() * part / 1e6;
            assert!(own > 0.0 && own <= value(entry, "wall"), "{entry}");
        }
    }
}
