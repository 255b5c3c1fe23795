//! `allotment simulate`: a table that is always the same, or why there is none.

use super::{allotment, failure, stdout};

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
    assert!(code == 2 && line.contains("a number of operations of 0"), "{line}");
    let (code, line) = failure(&["simulate"]);
    assert!(code == 2 && line.contains("allotment simulate coherence or allotment simulate tlab"), "{line}");
}

#[test]
fn simulate_measures_or_says_why_not() {
    let text = stdout(&["simulate", "coherence", "--cores=1", "--operations=10", "--calibrate"]);
    assert!(text.contains("scaled to a hand-over between CPU") || text.contains("only one CPU"), "{text}");
}

/// A storm that is small enough for a test.
const SMALL: &[&str] = &[
    "simulate",
    "tlab",
    "--threads=20",
    "--operations=5",
    "--before=0",
    "--heap=16m",
    "--live=1m",
    "--keeps=10k",
];

#[test]
fn simulate_tlab_prints_a_row_for_each_policy_and_the_same_every_time() {
    let text = stdout(SMALL);
    assert!(text.starts_with("A model, not a measurement"), "{text}");
    assert!(text.contains("20 threads, instant, pace 20ms") && text.contains("seed 1"), "{text}");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .skip_while(|row: &Vec<&str>| row.first() != Some(&"Policy"))
        .collect();
    let rows: Vec<Vec<&str>> = rows.into_iter().take_while(|row| !row.is_empty()).collect();
    let policies: Vec<&str> = rows[1..].iter().map(|row| row[0]).collect();
    let all = ["adaptive", "hotspot", "hotspot-8381834", "shenandoah", "shenandoah-8359947", "epsilon"];
    assert_eq!(policies, all, "{text}");
    // "wait p50" and eight more heads are two words each.
    assert!(rows[1..].iter().all(|row| row.len() + 9 == rows[0].len()), "{text}");
    assert_eq!(stdout(SMALL), text);
}

#[test]
fn simulations_fit_a_narrow_terminal_and_end_with_their_answer() {
    let coherence = ["simulate", "coherence", "--cores=1,2", "--operations=10"];
    for arguments in [SMALL, &coherence[..]] {
        let output = allotment().args(arguments).env("COLUMNS", "40").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
    let text = stdout(SMALL);
    let last = text.split("\n\n").last().unwrap();
    let answers = [
        "The load never fills this heap with ",
        "No thread of 20 waited for memory",
        "Threads waited for memory",
    ];
    assert!(answers.iter().any(|answer| last.starts_with(answer)), "{text}");
}

#[test]
fn simulate_tlab_takes_every_number_of_a_scenario() {
    let arguments = [
        "--like=extremem",
        "--config=loaded",
        "--policy=shenandoah,adaptive",
        "--threads=10",
        "--arrival=poisson",
        "--duration=2s",
        "--warm-up=1s",
        "--cpus=8",
        "--heap=1g",
        "--objects=48",
        "--live=100m",
        "--rebuild=10m",
        "--rebuild-every=500ms",
        "--collector=shenandoah",
        "--seed=7",
    ];
    let text = stdout(&[&["simulate", "tlab"], &arguments[..]].concat());
    for part in [
        "10 threads, poisson, pace 150ms, think 30ms",
        "objects of 48 to 48",
        "heap 1g, regions of 4m, 100m live",
        "10485760 bytes in 94.37184ms every 500ms",
        "8 CPUs",
        "collector shenandoah, 8 workers in stops, 2 beside threads; seed 7",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        text.contains("\nshenandoah ") && text.contains("\nadaptive ") && !text.contains("epsilon"),
        "{text}"
    );
}

#[test]
fn simulate_tlab_takes_zero_where_a_preset_has_more() {
    let off =
        ["--think=0", "--warm-up=0", "--first=0", "--wake-up=0", "--switch=0", "--refill=0", "--pause=0"];
    let arguments =
        ["simulate", "tlab", "--like=extremem", "--threads=10", "--duration=1s", "--policy=adaptive"];
    let text = stdout(&[&arguments[..], &off[..]].concat());
    assert!(text.contains("10 threads, staggered, pace 150ms; at most"), "{text}");
    let (code, line) = failure(&arguments);
    assert!(code == 2 && line.contains("less than the duration of 1s can, 0 is none"), "{line}");
}

#[test]
fn simulate_tlab_writes_files_for_programs() {
    let folder = tempfile::tempdir().unwrap();
    let (json, csv) = (folder.path().join("a.json"), folder.path().join("a.csv"));
    let files = [format!("--json={}", json.display()), format!("--csv={}", csv.display())];
    stdout(&[SMALL, &["--policy=adaptive,epsilon", &files[0], &files[1]]].concat());
    let rows: serde_json::Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!((&rows[0]["policy"], &rows[1]["policy"]), (&"adaptive".into(), &"epsilon".into()));
    assert_eq!(rows[0]["operations"], 100);
    let text = std::fs::read_to_string(csv).unwrap();
    let lines: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
    assert!(lines.len() == 3 && lines.iter().all(|count| *count == lines[0]), "{text}");
    assert!(text.starts_with("policy,first_buffer,"), "{text}");
}

#[test]
fn simulate_tlab_refuses_what_it_cannot() {
    let refused = |arguments: &[&str], expected: &str| {
        let (code, line) = failure(&[&["simulate", "tlab"], arguments].concat());
        assert!(code == 2 && line.contains(expected), "{arguments:?}: {line}");
    };
    refused(&["--threads=0"], "threads of 0");
    refused(&["--conc-gc-threads=10000000000"], "1 to 1024 can");
    refused(&["--warm-up=-1"], "is not a time");
    refused(&["--policy=tcmalloc"], "`tcmalloc` is not a policy");
    refused(&["--config=huge"], "--config is of --like extremem");
    refused(&["--config=large", "--like=extremem"], "possible values: small, medium, huge, loaded");
    refused(&["--objects=20..40"], "multiples of 8");
    refused(&["--pace=0"], "is too short");
    refused(&["--arrival=steady", "--pace=1ms"], "--arrival steady has none");
    refused(&["--heap=1m", "--live=0"], "MaxHeapSize");
    refused(&["--live=2g"], "leave no room");
    refused(&["--rebuild-keeps=1m"], "write --rebuild BYTES");
    refused(&["--json=-"], "-");
    let (code, line) = failure(&[SMALL, &["--json=/nowhere/a.json"]].concat());
    assert!(code == 1 && line.contains("/nowhere/a.json"), "{line}");
}
