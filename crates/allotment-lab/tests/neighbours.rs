//! Runs with neighbours, and the experiment that they go with, from the outside.

mod own_folder;

use own_folder::{VARIABLE, own_folder};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn allotment(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).args(arguments);
    command
}

fn run(arguments: &[&str]) -> (Output, String, String) {
    let output = allotment(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (table, errors) = (text(&output.stdout), text(&output.stderr));
    (output, table, errors)
}

fn entries(json: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(json).unwrap()).unwrap()
}

/// The shortest run that has errors, beside one neighbour.
const BESIDE: [&str; 10] = [
    "run",
    "clock",
    "--forks=1",
    "--iterations=3",
    "--warmup-iterations=0",
    "--time=5ms",
    "--threads=1",
    "--reads=64",
    "--jmh-mode=avgt",
    "--neighbours=1:64k",
];

#[test]
fn each_case_is_measured_alone_and_with_company() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    for walk in ["random", "sequential"] {
        let neighbours = format!("--neighbours=1:64k:{walk}");
        let mut arguments = BESIDE.to_vec();
        arguments[9] = &neighbours;
        arguments.extend(["--mode=tsc,coarse", "--json", json.to_str().unwrap()]);
        let (output, table, _) = run(&arguments);
        assert!(output.status.success(), "{output:?}");
        let label = format!("1:64k:{walk}");
        assert!(table.contains("vs neighbours=none") && table.contains(&label), "{table}");
        assert!(table.contains(&format!("beside neighbours {label}: ")), "{table}");
        let entries = entries(&json);
        let found: Vec<_> = entries
            .iter()
            .map(|entry| {
                let params = entry["params"].as_object().unwrap();
                assert_eq!(params.keys().next_back().unwrap(), "neighbours");
                let rate = entry["secondaryMetrics"].get("neighbours.rate");
                if let Some(rate) = rate {
                    assert!(
                        rate["score"].as_f64().unwrap() > 0.0 && rate["scoreUnit"] == "lines/us",
                        "{rate}"
                    );
                    assert_eq!(rate["rawData"][0].as_array().unwrap().len(), 1, "one value for each fork");
                }
                (
                    entry["benchmark"].as_str().unwrap(),
                    params["neighbours"].as_str().unwrap().to_string(),
                    rate.is_some(),
                )
            })
            .collect();
        let beside = format!("1:65536:{walk}");
        let expected = [
            ("clock.tsc", "none".to_string(), false),
            ("clock.tsc", beside.clone(), true),
            ("clock.coarse", "none".to_string(), false),
            ("clock.coarse", beside, true),
        ];
        assert_eq!(found, expected);
    }
}

#[test]
fn wrong_neighbours_are_refused_before_anything_is_measured() {
    for (neighbours, hint) in [
        ("0:64m", "write 1 to 1024"),
        ("2", "write N:SIZE"),
        ("2:64m:backwards", "write random or sequential"),
        ("1:1", "two lines"),
        ("1024:1t", "of memory are free"),
    ] {
        let (output, table, errors) = run(&["run", "clock", "--neighbours", neighbours]);
        assert_eq!(output.status.code(), Some(2), "{neighbours}: {errors}");
        assert!(
            table.is_empty() && errors.lines().count() == 1 && errors.contains(hint),
            "{neighbours}: {errors}"
        );
    }
    let (output, _, errors) = run(&["neighbour"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(errors.contains("holds no order; neighbours are started by `allotment run`"), "{errors}");
}

/// Starts a run that takes two seconds alone, and then as long beside its neighbour.
fn long_run() -> Child {
    let mut arguments = BESIDE.to_vec();
    arguments[3] = "--iterations=400";
    arguments.push("--mode=tsc");
    allotment(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for something that is bound to happen.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(120), "{what} has not happened");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The process of a run's neighbours, once there is one.
fn neighbour_of(parent: u32) -> u32 {
    wait_for("a neighbour", || {
        let children =
            fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
        children.split_whitespace().filter_map(|child| child.parse().ok()).find(|child: &u32| {
            let line = fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            line.split(|&byte| byte == 0).any(|word| word == b"neighbour")
        })
    })
}

/// Whether a process runs: what is dead and not yet waited for does not.
fn is_gone(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_none_or(|state| state.trim_start().starts_with(['Z', 'X']))
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn neighbours_end_with_a_parent_that_is_killed() {
    let mut parent = long_run();
    let neighbour = neighbour_of(parent.id());
    signal("-KILL", parent.id());
    parent.wait().unwrap();
    wait_for("the end of the neighbour", || is_gone(neighbour).then_some(()));
}

#[test]
fn neighbours_end_with_a_run_that_is_interrupted() {
    let parent = long_run();
    let neighbour = neighbour_of(parent.id());
    signal("-INT", parent.id());
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(is_gone(neighbour));
}

#[test]
fn what_was_measured_beside_neighbours_that_died_is_dropped() {
    let mut arguments = BESIDE.to_vec();
    arguments[3] = "--iterations=200";
    arguments.push("--mode=tsc");
    let parent = allotment(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    signal("-KILL", neighbour_of(parent.id()));
    let output = parent.wait_with_output().unwrap();
    let (table, errors) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("they ended early; their process was killed by signal 9"), "{errors}");
    assert!(table.contains("\nfailed: clock.tsc") && table.contains("neighbours = 1:64k:random"), "{table}");
}

#[test]
fn walks_of_the_cache_are_measured_and_judged() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let arguments = [
        "run",
        "cache",
        "--forks=1",
        "--iterations=3",
        "--warmup-iterations=0",
        "--time=3ms",
        "--threads=1,2",
        "--set=16,64k,l2",
        "--window=4k",
        "--pages=huge",
        "--share=total",
        "--json",
        json.to_str().unwrap(),
    ];
    let (output, table, errors) = run(&arguments);
    assert!(output.status.success(), "{output:?}");
    for expected in [
        "cache.chase left out: a set of less than two slots for each thread is not a cycle",
        "cache.gather left out: a set of less than 16 bytes for each thread holds no two elements",
    ] {
        assert_eq!(errors.matches(expected).count(), 1, "{errors}");
    }
    for walk in [
        "gather, order shuffled",
        "gather, order sequential",
        "chase, order shuffled",
        "chase, order sequential",
        "window",
    ] {
        for line in [format!("{walk}, 1 thread: "), format!("{walk}, 2 threads: speed-up over one thread ")] {
            assert!(table.lines().any(|found| found.starts_with(&line)), "{line}: {table}");
        }
    }
    let entries = entries(&json);
    let number = |entry: &Value, label: &str| entry["secondaryMetrics"][label]["score"].as_f64();
    for entry in &entries {
        let (name, set) = (entry["benchmark"].as_str().unwrap(), entry["params"]["set"].as_str().unwrap());
        let set: f64 = set.parse().unwrap();
        assert!(entry["primaryMetric"]["score"].as_f64().unwrap() > 0.0, "{name}");
        assert!(number(entry, "pages.huge").is_some_and(|share| (0.0..=100.0).contains(&share)), "{entry}");
        assert!(
            number(entry, "set.total").is_some_and(|total| total <= set && total > set - 16.0),
            "{entry}"
        );
    }
    let count = |name: &str| entries.iter().filter(|entry| entry["benchmark"] == name).count();
    assert_eq!((count("cache.gather"), count("cache.chase"), count("cache.window")), (10, 8, 4));
}
