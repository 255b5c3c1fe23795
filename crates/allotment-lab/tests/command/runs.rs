//! Runs to their end: the table, the files, the order of forks.

use super::{SHORT, allotment, failure, output, stdout};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn a_run_prints_a_table_and_writes_both_files() {
    let directory = tempfile::tempdir().unwrap();
    let (json, csv) = (directory.path().join("r.json"), directory.path().join("r.csv"));
    let mut command = allotment();
    let output = command.args(SHORT).arg("--json").arg(&json).arg("--csv").arg(&csv).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let table = String::from_utf8(output.stdout).unwrap();
    let setting = "# avgt: 1 fork x (1 warm-up x 5 ms + 3 measured x 10 ms)";
    assert!(table.starts_with(setting), "{table}");
    let titles = table.lines().find(|line| line.starts_with("Benchmark")).unwrap();
    let titles: Vec<&str> = titles.split_whitespace().collect();
    assert_eq!(titles[..6], ["Benchmark", "Mode", "Cnt", "Score", "Error", "Units"]);
    assert!(table.contains("\nreads = 64, threads = 1\n"), "{table}");
    assert!(table.contains("vs mode=monotonic") && table.contains("clock.tsc:tsc.rate"), "{table}");

    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let names: Vec<&str> = entries.iter().filter_map(|entry| entry["benchmark"].as_str()).collect();
    assert_eq!(names, ["clock.tsc", "clock.monotonic"]);
    for entry in &entries {
        assert_eq!(
            (&entry["mode"], &entry["threads"], &entry["forks"]),
            (&json!("avgt"), &json!(1), &json!(1))
        );
        assert_eq!(
            (&entry["params"], &entry["measurementTime"]),
            (&json!({ "reads": "64" }), &json!("10 ms"))
        );
        let metric = &entry["primaryMetric"];
        assert_eq!(metric["scoreUnit"], "ns/op");
        assert_eq!(metric["rawData"][0].as_array().unwrap().len(), 3);
        let values: Vec<f64> =
            metric["rawData"][0].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
        let mean = values.iter().sum::<f64>() / 3.0;
        assert!(mean > 0.0 && (metric["score"].as_f64().unwrap() / mean - 1.0).abs() < 1e-9);
        assert!(
            entry["jvmArgs"]
                .as_array()
                .unwrap()
                .iter()
                .any(|fact| fact.as_str().unwrap().starts_with("kernel="))
        );
        assert!(!entry.to_string().contains("incomplete"), "{entry}");
    }

    let mut reader = csv::Reader::from_path(&csv).unwrap();
    assert_eq!(reader.headers().unwrap().iter().next_back(), Some("Param: reads"));
    let names: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_string()).collect();
    assert_eq!(names, ["clock.tsc", "clock.tsc:tsc.rate", "clock.monotonic"]);
}

#[test]
fn counters_are_listed_and_counted_or_replaced_with_a_reason() {
    let listed = stdout(&["counters"]);
    assert!(listed.starts_with("the processor's counters are "), "{listed}");
    assert!(listed.contains("* minor-faults") && listed.contains("L1-dcache-load-misses"), "{listed}");
    let here = listed.starts_with("the processor's counters are available");

    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let output = allotment().args(SHORT).arg("--counters").arg("--json").arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    let none = table.contains("# counters: none here: ") && table.contains("counted in software instead: ");
    assert_eq!(none, !here, "{table}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for entry in &entries {
        let metrics = &entry["secondaryMetrics"];
        for (label, unit) in [("minor-faults", "#/op"), ("task-clock", "ns/op"), ("steal", "ms")] {
            assert_eq!(metrics[label]["scoreUnit"], unit, "{label}");
        }
        // The thread ran most of its window: within it, it waits for nothing.
        let (busy, all) = (metrics["task-clock"]["score"].as_f64(), entry["primaryMetric"]["score"].as_f64());
        assert!(busy.unwrap() > 0.0 && all.unwrap() > 0.0);
        assert_eq!(metrics["cycles"].is_object(), here);
    }

    let plain = stdout(&SHORT);
    assert!(!plain.contains("minor-faults") && !plain.contains("counters"), "{plain}");
    let (code, line) = failure(&["run", "clock", "--counters=cyles"]);
    assert_eq!(code, 2);
    assert!(line.contains("--counters: there is no counter `cyles`; did you mean `cycles`?"), "{line}");
}

#[test]
fn a_profile_is_below_the_table_and_not_in_the_files() {
    let directory = tempfile::tempdir().unwrap();
    let (with, without) = (directory.path().join("with.json"), directory.path().join("without.json"));
    let long = ["--time=200ms", "--mode=tsc"];
    let short =
        SHORT.iter().filter(|argument| !argument.starts_with("--time=") && !argument.starts_with("--mode="));
    let mut command = allotment();
    command.args(short.clone()).args(long).arg("--profile").arg("--json").arg(&with);
    let profiled = command.output().unwrap();
    assert!(profiled.status.success(), "{profiled:?}");
    let text = String::from_utf8(profiled.stdout).unwrap();
    let (table, profile) =
        text.split_once("\nprofile of clock.tsc (reads = 64, threads = 1, avgt)\n").unwrap();
    assert!(table.contains("Benchmark"), "{text}");
    assert!(profile.contains(" samples by ") && profile.contains("hottest functions"), "{profile}");
    assert!(profile.contains("rdtsc") || cfg!(not(target_arch = "x86_64")), "{profile}");

    allotment().args(short).args(long).arg("--json").arg(&without).output().unwrap();
    let keys = |path: &Path| -> Vec<String> {
        let entries: Vec<Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let metrics = entries[0]["secondaryMetrics"].as_object().unwrap().keys().cloned();
        entries[0].as_object().unwrap().keys().cloned().chain(metrics).collect()
    };
    assert_eq!(keys(&with), keys(&without));
}

#[test]
fn experiments_run_together_and_share_flags() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args([
        "run",
        "tlab",
        "tlab-size",
        "--quick",
        "--forks=1",
        "--warmup-iterations=0",
        "--iterations=3",
    ]);
    command.args([
        "--time=2ms",
        "--threads=2",
        "--size=48",
        "--eden=16k",
        "--tlab=4k,64k",
        "--collector=mark-compact",
        "--param=objects=5000",
    ]);
    let output = command.arg("--json").arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let table = String::from_utf8(output.stdout).unwrap();
    let constant = |start: &str| table.lines().any(|line| line.starts_with(start));
    let bumping = if cfg!(target_arch = "x86_64") {
        "tlab, burst, emitted, bare, shared, collected"
    } else {
        "tlab, burst, bare, shared, collected"
    };
    assert!(
        constant(&format!("size = 48, eden = 16k, prefetch = by-processor ({bumping}), zeroing = ")),
        "{table}"
    );
    assert!(
        constant("objects = 5000, size = 48, pretouch = on, prefetch = by-processor (fixed, "),
        "{table}"
    );
    let cells = |name: &str, index: usize| -> Vec<&str> {
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|cells| cells.first() == Some(&name)).map(|cells| cells[index]).collect()
    };
    assert_eq!(cells("tlab-size.fixed", 1), ["4k", "64k"], "{table}");
    assert_eq!(cells("tlab-size.no-tlab", 1), ["-"], "{table}");
    assert_eq!(cells("tlab-size.fixed:refills", 1), ["4k", "64k"], "{table}");
    assert!(cells("tlab-size.no-tlab:refills", 1).is_empty() && !table.contains("N/A"), "{table}");

    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("where 18 single shots of unknown length count as")
            && errors.contains("\nmeasuring took "),
        "{errors}"
    );
    assert!(
        errors.lines().filter(|line| line.starts_with("warning: the error is over")).count() <= 1,
        "{errors}"
    );

    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let of = |name: &str| entries.iter().filter(|entry| entry["benchmark"] == name).collect::<Vec<_>>();
    assert_eq!(of("tlab.tlab")[0]["params"]["eden"], "16384");
    assert_eq!(of("tlab.shared").len(), 2);
    let fixed = of("tlab-size.fixed");
    let sizes: Vec<_> = fixed.iter().map(|entry| entry["params"]["tlab"].as_str().unwrap()).collect();
    assert_eq!(sizes, ["4096", "65536"]);
    for entry in of("tlab-size.adaptive").iter().chain(&fixed) {
        assert_eq!((&entry["mode"], &entry["primaryMetric"]["scoreUnit"]), (&json!("ss"), &json!("ms/op")));
        assert_eq!(entry["secondaryMetrics"]["alloc.rate"]["scoreUnit"], "MiB/s");
        assert!(entry["secondaryMetrics"]["refills"]["score"].as_f64().unwrap() >= 2.0);
    }
}

#[test]
fn the_api_is_measured_in_both_ways() {
    for (collector, phases) in [
        ("mark-compact", ["phase.mark", "phase.slide"]),
        ("shenandoah", ["concurrent.mark", "concurrent.evacuate"]),
    ] {
        see_api(collector, &phases);
    }
}

fn see_api(collector: &str, phases: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args([
        "run",
        "api",
        "--quick",
        "--forks=1",
        "--warmup-iterations=0",
        "--iterations=2",
        "--time=2ms",
    ]);
    command
        .args(["--heap=4m", "--length=16", "--mutators=1,3", "--live=64k", "--garbage=2"])
        .args(["--collector", collector, "--json"])
        .arg(&json);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("vs way=raw"), "{table}");

    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for (mode, rows) in [
        ("attach", 1),
        ("poll", 1),
        ("blocking", 1),
        ("root", 1),
        ("handle", 1),
        ("alloc", 1),
        ("load", 1),
        ("store", 1),
        ("list", 1),
        ("stop", 2),
        ("collect", 2),
    ] {
        let name = format!("api.{mode}");
        for way in ["safe", "raw"] {
            let of = |entry: &&Value| entry["benchmark"] == name.as_str() && entry["params"]["way"] == way;
            let found: Vec<&Value> = entries.iter().filter(of).collect();
            assert_eq!(found.len(), rows, "{name} {way}: {table}");
            for entry in found {
                let metric = &entry["primaryMetric"];
                assert!(metric["scoreUnit"] == "ns/op" && metric["score"].as_f64().unwrap() > 0.0, "{entry}");
                let has = |label: &str| entry["secondaryMetrics"].get(label).is_some();
                assert_eq!(has("gc.count") && has("gc.time"), mode == "alloc", "{entry}");
                assert_eq!(has("arrival.p50") && has("arrival.max"), mode == "stop", "{entry}");
                let told = phases.iter().all(|phase| has(phase)) && has("moved") && has("pause");
                assert_eq!(told, (mode, way) == ("collect", "safe"), "{entry}");
            }
        }
    }
}

#[test]
fn heaps_that_collect_are_measured_with_what_they_did() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args(["run", "storm", "weak", "tlab", "--quick", "--forks=1", "--warmup-iterations=0"]);
    command.args(["--iterations=2", "--time=20ms", "--threads=1"]);
    command.args(["--collector=mark-compact,parallel,shenandoah", "--mutators=3,40", "--paced=1,0"]);
    command.args(["--operations=20", "--before=400", "--heap=8m"]);
    command.args(["--tlab=0", "--entries=300", "--value=64", "--mode=start,field,root,collected"]);
    let output = command.args(["--size=64", "--eden=64k", "--json"]).arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for (name, rows, unit, metrics) in [
        ("storm.start", 12, "ms/op", &["op.p50", "op.max", "first.over-1ms", "thread.p50"][..]),
        ("weak.field", 3, "ns/op", &["hits", "cleared"]),
        ("weak.root", 3, "ns/op", &["hits", "cleared"]),
        ("tlab.collected", 3, "ops/us", &[]),
    ] {
        let of: Vec<&Value> = entries.iter().filter(|entry| entry["benchmark"] == name).collect();
        assert_eq!(of.len(), rows, "{name}: {output:?}");
        for entry in of {
            assert_eq!(entry["primaryMetric"]["scoreUnit"], unit);
            for metric in metrics.iter().chain(&["gc.full", "gc.young", "tlab.waste", "heap.peak"]) {
                assert!(entry["secondaryMetrics"][metric]["score"].is_f64(), "{name}: {metric}: {entry}");
            }
            let value =
                |metric: &str| entry["secondaryMetrics"][metric]["score"].as_f64().unwrap_or(f64::NAN);
            let (young, full) = (value("gc.young"), value("gc.full"));
            match entry["params"]["collector"].as_str().unwrap() {
                // 40 mutators allocate twice the heap.
                "parallel" if entry["params"]["mutators"] == "40" => {
                    assert!(young >= 1.0 && value("gc.young.object") > 0.0, "{entry}");
                }
                "parallel" => {}
                "shenandoah" => {
                    let cycles = value("gc.concurrent") + value("gc.degenerated");
                    assert_eq!(young, 0.0, "{entry}");
                    assert!(cycles + full >= 1.0 || entry["params"]["mutators"] != "40", "{entry}");
                }
                _ => {
                    assert_eq!(young, 0.0, "{entry}");
                    assert!(full >= 1.0 || entry["params"]["mutators"] != "40", "{entry}");
                }
            }
        }
    }
}

#[test]
fn a_shop_tells_how_late_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args([
        "run",
        "extremem",
        "--quick",
        "--forks=1",
        "--iterations=1",
        "--collector=parallel,genshen",
    ]);
    command
        .args(["--workload=SimulationDuration=500ms,SimulationDuration=500ms WarmupDuration=0s", "--json"]);
    let output = command.arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said.matches(": preparation P50 ").count(), 4, "a line for each row: {said}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    assert_eq!(entries.len(), 4);
    for entry in entries {
        let value = |metric: &str| entry["secondaryMetrics"][metric]["score"].as_f64().unwrap_or(f64::NAN);
        for metric in ["preparation.p50", "preparation.p100", "engagements.rate", "candidates", "cpu", "rss"]
        {
            assert!(value(metric) > 0.0, "{metric}: {entry}");
        }
        assert_eq!(value("preparation.n"), value("engagements"), "{entry}");
        assert!(value("start.pause.max").is_nan() || value("start.pause.max") > 0.0, "{entry}");
    }
}

#[test]
fn a_shop_that_the_machine_cannot_hold_is_refused_with_what_it_takes() {
    let output = allotment().args(["run", "extremem", "--config=huge", "--heap=64t"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).replace('\n', " ");
    for part in ["configuration huge", "2000 customer threads", "25 min", "of memory, and there"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn barriers_are_measured_in_each_phase_of_a_cycle() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    command.args(["run", "barriers", "--quick", "--forks=1", "--warmup-iterations=0", "--iterations=2"]);
    command.args(["--time=5ms", "--length=512", "--mode=load,store,walk,weak"]);
    command.args(["--collector=parallel,shenandoah", "--phase=none,marking,weak,forwarding", "--json"]);
    let output = command.arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for mode in ["load", "store", "walk", "weak"] {
        let name = format!("barriers.{mode}");
        let of: Vec<&Value> = entries.iter().filter(|entry| entry["benchmark"] == name.as_str()).collect();
        let phases = |collector: &str| -> Vec<&str> {
            let own = of.iter().filter(|entry| entry["params"]["collector"] == collector);
            own.map(|entry| entry["params"]["phase"].as_str().unwrap()).collect()
        };
        assert_eq!(phases("parallel"), ["none"], "{output:?}");
        assert_eq!(phases("shenandoah"), ["none", "marking", "weak", "forwarding"], "{output:?}");
        for entry in of {
            assert!(entry["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{entry}");
            assert!(entry["secondaryMetrics"]["first"]["score"].as_f64().unwrap() > 0.0, "{entry}");
        }
    }
}

#[test]
fn sample_mode_writes_a_histogram_and_percentiles() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let mut command = allotment();
    let run = command.args(SHORT).args(["--mode=monotonic", "--jmh-mode=sample", "--quiet"]);
    // A repeated list adds to the first; both modes are sampled, and timed as well.
    let output = run.arg("--json").arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    let sampled = entries.iter().find(|entry| entry["mode"] == "sample").unwrap();
    let histograms = sampled["primaryMetric"]["rawDataHistogram"][0].as_array().unwrap();
    assert_eq!(histograms.len(), 3);
    let pairs = histograms[0].as_array().unwrap();
    assert!(pairs.iter().all(|pair| pair[1].as_u64().unwrap() > 0) && !pairs.is_empty());
    let percentile = |label: &str| sampled["secondaryMetrics"][label]["score"].as_f64().unwrap();
    assert!(percentile("p0.50") <= percentile("p0.99") && percentile("p0.99") <= percentile("p1.00"));
}

#[test]
fn forks_are_interleaved_there_and_back() {
    let mut command = allotment();
    let output = command.args(SHORT).arg("--forks=2").output().unwrap();
    assert!(!output.status.success(), "a repeated flag is refused");
    let arguments: Vec<&str> =
        SHORT.iter().map(|&argument| if argument == "--forks=1" { "--forks=3" } else { argument }).collect();
    let output = self::output(&arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    let order: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(": clock."))
        .filter_map(|(_, name)| name.split_whitespace().next())
        .collect();
    assert_eq!(order[..6], ["tsc", "monotonic", "monotonic", "tsc", "tsc", "monotonic"], "{text}");
    assert!(text.starts_with("2 cases x 3 forks, about"), "{text}");
}

#[test]
fn a_debug_build_says_that_its_figures_say_nothing() {
    let output = self::output(&[&SHORT[..], &["--quiet"]].concat());
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text.contains("warning: this is a debug build"), cfg!(debug_assertions), "{text}");
}
