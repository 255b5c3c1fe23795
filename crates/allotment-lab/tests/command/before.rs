//! What a run does before it measures: the plan, the lock, the options of the environment.

use super::{SHORT, allotment, output};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_plan_names_the_cases_and_their_time_and_measures_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let json = directory.path().join("r.json");
    let run = allotment().args(SHORT).arg("--plan").arg("--json").arg(&json).output().unwrap();
    let (plan, told) = texts(&run);
    assert!(run.status.success() && told.is_empty(), "{run:?}");
    let expected = "clock.tsc (reads = 64, threads = 1, avgt): 1 fork, about 0.1 s\n\
                    clock.monotonic (reads = 64, threads = 1, avgt): 1 fork, about 0.1 s\n\
                    2 cases x 1 fork, about 0.2 s\n";
    assert_eq!(plan, expected);
    assert!(!json.exists());
}

#[test]
fn a_shot_whose_time_is_known_is_planned_with_it() {
    let plan = |more: &[&str]| texts(&output(&[&["run"], more, &["--quick", "--plan"]].concat())).0;
    let shop = plan(&["extremem", "--workload=WarmupDuration=5s SimulationDuration=10s", "--iterations=2"]);
    assert!(shop.contains(": 2 forks, about 1 min 0 s\n") && !shop.contains("unknown length"), "{shop}");
    let storm = plan(&["storm", "--paced=20,0", "--operations=50", "--mutators=3"]);
    let line = |pace: &str| storm.lines().find(|line| line.contains(&format!("paced = {pace},"))).unwrap();
    assert!(line("20").ends_with(": 2 forks, about 4.1 s"), "{storm}");
    assert!(line("0").contains(", where 4 single shots of unknown length count as "), "{storm}");
}

#[test]
fn a_second_run_is_refused_unless_the_lock_is_ignored() {
    let mut first = allotment();
    first.args(["run", "clock", "--mode=tsc", "--threads=1", "--reads=64", "--forks=1", "--time=10min"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(first.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("clock.tsc") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the first run never began");
    }
    for measuring in [&SHORT[..], &["tune"], &["truth", "clock.tsc", "--quick"]] {
        let refused = output(measuring);
        let (_, why) = texts(&refused);
        let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
        // Without a compiler for C, `truth` has nothing to measure.
        if measuring[0] == "truth" && !why.contains("allotment measures") {
            continue;
        }
        assert_eq!(refused.status.code(), Some(1), "{measuring:?}: {why}");
        assert!(why.contains(&format!("(process {})", first.id())) && why.contains("--ignore-lock"), "{why}");
    }
    let ignoring = output(&[&SHORT[..], &["--ignore-lock"]].concat());
    let planning = output(&[&SHORT[..], &["--plan"]].concat());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(ignoring.status.success() && planning.status.success(), "{ignoring:?} {planning:?}");
    assert!(output(&SHORT).status.success(), "the lock of a killed run holds nobody up");
}

#[test]
fn wrong_options_in_the_environment_end_a_run_before_its_first_case() {
    for (options, why) in [("garbage", "garbage"), ("TLABSize=17", "TLABSize")] {
        let run = allotment().args(SHORT).env("ALLOTMENT_OPTIONS", options).output().unwrap();
        let (table, told) = texts(&run);
        assert_eq!(run.status.code(), Some(2), "{told}");
        assert!(told.starts_with("allotment: ALLOTMENT_OPTIONS") && told.contains(why), "{told}");
        assert!(table.is_empty() && told.lines().count() == 1, "{table}{told}");
    }
}

#[test]
fn warnings_of_a_run_are_in_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let threads = std::thread::available_parallelism().unwrap().get() + 1;
    let mut command = allotment();
    command
        .args(SHORT.map(|word| word.replace("--threads=1", &format!("--threads={threads}"))))
        .arg("--json")
        .arg(at("r.json"))
        .arg("--report")
        .arg(at("r.html"));
    let run = command.output().unwrap();
    assert!(run.status.success(), "{run:?}");
    let told = texts(&run).1.replace('\n', " ");
    let warning = format!("up to {threads} threads, neighbours included, ran on ");
    assert!(told.contains(&format!("warning: {warning}")), "{told}");
    let entries: Vec<Value> = serde_json::from_slice(&fs::read(at("r.json")).unwrap()).unwrap();
    for entry in &entries {
        let facts = entry["jvmArgs"].as_array().unwrap().iter().filter_map(Value::as_str);
        let own = |fact: &&str| fact.starts_with(&format!("warning={warning}"));
        assert_eq!(facts.filter(own).count(), 1, "{entry}");
    }
    let mut markdown = allotment();
    markdown.arg("report").arg(at("r.json")).args(["--markdown", "-"]);
    let markdown = texts(&markdown.output().unwrap()).0;
    let page = fs::read_to_string(at("r.html")).unwrap();
    assert_eq!(markdown.matches(&format!("\n- warning: {warning}")).count(), 1, "{markdown}");
    assert_eq!(page.matches(&format!("<li>warning: {warning}")).count(), 1);
}
