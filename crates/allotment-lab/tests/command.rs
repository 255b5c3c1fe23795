//! The built command, from the outside: what it prints, what it writes, how it fails.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn allotment() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null());
    command
}

fn output(arguments: &[&str]) -> Output {
    allotment().args(arguments).output().unwrap()
}

fn stdout(arguments: &[&str]) -> String {
    let output = output(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the one line on standard error.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = output(arguments);
    let line = String::from_utf8(output.stderr).unwrap();
    assert!(output.stdout.is_empty(), "{arguments:?} printed something");
    assert_eq!(line.lines().count(), 1, "{arguments:?}: {line}");
    assert!(line.starts_with("allotment: "), "{line}");
    (output.status.code().unwrap(), line)
}

/// The shortest run that has errors: one fork, three iterations.
const SHORT: [&str; 12] = [
    "run",
    "clock",
    "--quick",
    "--forks=1",
    "--iterations=3",
    "--warmup-iterations=1",
    "--warmup-time=5ms",
    "--time=10ms",
    "--threads=1",
    "--reads=64",
    "--mode=tsc,monotonic",
    "--jmh-mode=avgt",
];

#[test]
fn list_names_experiments_modes_and_parameters() {
    let text = stdout(&["list"]);
    for expected in ["clock:", "monotonic", "--reads", "[1,64; quick 64]", "avgt, sample"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn machine_describes_this_one() {
    let text = stdout(&["machine"]);
    for name in [
        "processor",
        "L1d",
        "pages",
        "huge pages",
        "kernel",
        "clock source",
        "clock read",
        "counters",
        "memory",
    ] {
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
    }
}

#[test]
fn options_prints_the_manual_and_refuses_a_wrong_environment() {
    assert!(stdout(&["options"]).contains("TLABSize"));
    let set = allotment().arg("options").env("ALLOTMENT_OPTIONS", "TLABSize=128k").output().unwrap();
    assert!(String::from_utf8(set.stdout).unwrap().contains("128k"));
    let wrong = allotment().arg("options").env("ALLOTMENT_OPTIONS", "TLABSise=1m").output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("TLABSize"));
}

#[test]
fn a_run_prints_a_table_and_writes_both_files() {
    let directory = tempfile::tempdir().unwrap();
    let (json, csv) = (directory.path().join("r.json"), directory.path().join("r.csv"));
    let mut command = allotment();
    let output = command.args(SHORT).arg("--json").arg(&json).arg("--csv").arg(&csv).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let table = String::from_utf8(output.stdout).unwrap();
    let setting = "# avgt: 1 forks x (1 warm-up x 5 ms + 3 measured x 10 ms)";
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
    }

    let mut reader = csv::Reader::from_path(&csv).unwrap();
    assert_eq!(reader.headers().unwrap().iter().next_back(), Some("Param: reads"));
    let names: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_string()).collect();
    assert_eq!(names, ["clock.tsc", "clock.tsc:tsc.rate", "clock.monotonic"]);
}

#[test]
fn counters_are_listed_and_counted_or_replaced_with_a_reason() {
    let listed = stdout(&["counters"]);
    assert!(listed.starts_with("the processor's counters can"), "{listed}");
    assert!(listed.contains("* minor-faults") && listed.contains("L1-dcache-load-misses"), "{listed}");
    let here = listed.starts_with("the processor's counters can be had");

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
    assert!(profile.contains("rdtsc"), "{profile}");

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
    assert!(
        constant(
            "size = 48, eden = 16k, prefetch = by-size (tlab, burst, emitted, stub, called, bare), zeroing = "
        ),
        "{table}"
    );
    assert!(constant("objects = 5000, size = 48, pretouch = on, threads = 2"), "{table}");
    let cells = |name: &str, index: usize| -> Vec<&str> {
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|cells| cells.first() == Some(&name)).map(|cells| cells[index]).collect()
    };
    assert_eq!(cells("tlab-size.fixed", 1), ["4k", "64k"], "{table}");
    assert_eq!(cells("tlab-size.cas", 1), ["-"], "{table}");
    assert_eq!(cells("tlab-size.fixed:refills", 1), ["4k", "64k"], "{table}");
    assert!(cells("tlab-size.cas:refills", 1).is_empty() && !table.contains("N/A"), "{table}");

    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("and what 18 single shots take") && errors.contains("\nmeasuring took "),
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
        .args(["--heap=4m", "--length=16", "--mutators=1,3", "--live=64k", "--garbage=2", "--json"])
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
                let phases = has("phase.mark") && has("phase.slide") && has("moved") && has("pause");
                assert_eq!(phases, (mode, way) == ("collect", "safe"), "{entry}");
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
    command.args(["--iterations=2", "--time=20ms", "--threads=1", "--collector=mark-compact"]);
    command.args(["--mutators=3,40", "--paced=1,0", "--operations=10", "--before=400", "--heap=8m"]);
    command.args(["--tlab=0", "--entries=300", "--value=64", "--mode=start,field,root,collected"]);
    let output = command.args(["--size=64", "--eden=64k", "--json"]).arg(&json).output().unwrap();
    assert!(output.status.success(), "{output:?}");

    let entries: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for (name, rows, unit, metrics) in [
        ("storm.start", 4, "ms/op", &["op.p50", "op.max", "first.over-1ms", "thread.p50"][..]),
        ("weak.field", 1, "ns/op", &["hits", "cleared"]),
        ("weak.root", 1, "ns/op", &["hits", "cleared"]),
        ("tlab.collected", 1, "ops/us", &[]),
    ] {
        let of: Vec<&Value> = entries.iter().filter(|entry| entry["benchmark"] == name).collect();
        assert_eq!(of.len(), rows, "{name}: {output:?}");
        for entry in of {
            assert_eq!(entry["primaryMetric"]["scoreUnit"], unit);
            for metric in metrics.iter().chain(&["gc.full", "gc.young", "tlab.waste", "heap.peak"]) {
                assert!(entry["secondaryMetrics"][metric]["score"].is_f64(), "{name}: {metric}: {entry}");
            }
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
fn mistakes_are_told_in_one_line_before_anything_is_measured() {
    let usage = [
        (&["run", "clokc"][..], "did you mean `clock`?"),
        (&["run", "zzzzzzzzzz"], "see allotment list"),
        (&["run", "clock", "--threads", "0"], "zero threads"),
        (&["run", "clock", "--param", "size=16"], "the parameters are reads"),
        (&["run", "clock", "--param", "reads=few"], "`few` is not a whole number"),
        (&["run", "clock", "--reads", "0"], "zero reads"),
        (&["run", "tlab-size", "--objects", "1000000000000"], "fewer --objects fit"),
        (&["run", "tlab-size", "--eden", "1m"], "the parameters are objects, size, pretouch, tlab"),
        (&["run", "api", "--mode", "stop", "--mutators", "0"], "nobody to stop"),
        (&["run", "api", "--mode", "collect", "--order", "random"], "none of sequential, shuffled"),
        (&["run", "api", "--mode", "collect", "--threads", "2"], "one thread at a time"),
        (&["run", "storm", "--mutators", "0"], "nobody begins"),
        (&["run", "weak", "--collector", "epsilon"], "never clears"),
        (&["run", "tlab", "tlab-size", "--size", "17"], "the sizes compiled in are 16, 24"),
        (&["run", "clock", "--mode", "sundial"], "the modes are empty, tsc"),
        (&["run", "clock", "--time", "soon"], "not a time"),
        (&["run", "clock", "--itterations", "1"], "--iterations"),
        (&["run", "clock", "--baseline", "fast"], "mode=NAME"),
        (&["run"], "EXPERIMENT"),
        (&["walk"], "walk"),
        (&[], "no command"),
        (&["run", "clock", "--json", "/dev/null", "--csv", "/dev/null"], "a file each"),
    ];
    for (arguments, hint) in usage {
        let (code, line) = failure(arguments);
        assert_eq!(code, 2, "{line}");
        assert!(line.contains(hint), "{hint}: {line}");
    }
}

#[test]
fn unwritable_files_are_refused_before_anything_is_measured() {
    for (flag, path) in [("--json", "/no/such/directory/r.json"), ("--csv", "/"), ("--json", "/proc/version")]
    {
        let (code, line) = failure(&["run", "clock", flag, path]);
        assert_eq!(code, 1);
        assert!(line.contains(&format!("cannot write `{path}`")), "{line}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    assert!(stdout(&["--help"]).contains("Usage: allotment"));
    assert!(stdout(&["run", "--help"]).contains("--reads"));
    assert_eq!(stdout(&["--version"]).trim(), format!("allotment {}", env!("CARGO_PKG_VERSION")));
    assert!(!stdout(&["--help"]).contains("fork"), "the command for forks is hidden");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = allotment().arg("list").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_fork_without_an_order_says_so() {
    let (code, line) = failure(&["fork"]);
    assert_eq!(code, 1);
    assert!(line.contains("started by `allotment run`"), "{line}");
}

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

#[test]
fn simulate_prints_a_table_that_is_the_same_every_time() {
    let arguments = [
        "simulate",
        "coherence",
        "--cores=1,3",
        "--protocol=mesi,moesi",
        "--pattern=cas,fetch-add",
        "--operations=100",
        "--size=48",
        "--buffer=1k",
        "--hitm=100",
    ];
    let text = stdout(&arguments);
    assert!(text.starts_with("A model, not a measurement"), "{text}");
    assert!(text.contains("hitm 100") && text.contains("objects of 48 bytes"), "{text}");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .skip_while(|row: &Vec<&str>| row.first() != Some(&"Pattern"))
        .collect();
    assert_eq!(rows.len(), 1 + 2 * 2 * 3, "{text}");
    assert_eq!(rows[1][..3], ["tlab", "mesi", "1"]);
    assert_eq!((rows[1][4], rows[1][6]), ("1.00x", "1.00x"));
    assert_eq!(rows[12][..3], ["fetch-add", "moesi", "3"]);
    assert_eq!(stdout(&arguments), text);
}

#[test]
fn simulate_refuses_what_it_cannot() {
    let refused = |arguments: &[&str], expected: &str| {
        let (code, line) = failure(&[&["simulate", "coherence", "--operations=10"], arguments].concat());
        assert!(code == 2 && line.contains(expected), "{arguments:?}: {line}");
    };
    refused(&["--cores=0"], "1..=256");
    refused(&["--cores=2,257"], "1..=256");
    refused(&["--protocol=dragon"], "possible values: mesi, mesif, moesi");
    refused(&["--pattern=malloc"], "possible values: tlab, cas");
    refused(&["--size=20"], "multiples of 8 from 16 to 65536");
    refused(&["--buffer=8"], "buffer of 8 bytes");
    refused(&["--hitm=0"], "latency of 0 cycles");
    let (code, line) = failure(&["simulate", "coherence", "--operations=0"]);
    assert!(code == 2 && line.contains("0 operations per core"), "{line}");
    let (code, line) = failure(&["simulate"]);
    assert!(code == 2 && line.contains("allotment simulate coherence"), "{line}");
}

#[test]
fn simulate_measures_or_says_why_not() {
    let text = stdout(&["simulate", "coherence", "--cores=1", "--operations=10", "--calibrate"]);
    assert!(text.contains("scaled to a hand-over between CPU") || text.contains("only one CPU"), "{text}");
}
