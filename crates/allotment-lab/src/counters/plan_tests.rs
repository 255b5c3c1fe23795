//! Plans on simulated machines: the tests choose the result of each trial.

use super::*;

const EACH: u64 = 1_000_000;

fn list(text: &str) -> Vec<String> {
    text.split(',').map(String::from).collect()
}

fn refuse(number: i32) -> impl FnMut(&[Event]) -> Result<Vec<Reading>, Refusal> {
    move |events| {
        if events.iter().all(|event| event.attribute.is_software()) {
            return Ok(vec![Reading::whole(0); events.len()]);
        }
        Err(Refusal::of(number))
    }
}

/// A processor with `most` counters that counts each event once per addition.
fn counters(most: usize) -> impl FnMut(&[Event]) -> Result<Vec<Reading>, Refusal> {
    move |events| {
        if events.len() > most {
            return Err(Refusal::of(libc::EINVAL));
        }
        Ok(vec![Reading::whole(EACH); events.len()])
    }
}

#[test]
fn without_counters_one_line_says_so_and_software_counts() {
    for (number, reason) in [
        (libc::ENOENT, "virtual machines"),
        (libc::EOPNOTSUPP, "virtual machines"),
        (libc::EACCES, "perf_event_paranoid"),
        (libc::ENOSYS, "without perf events"),
    ] {
        let planned = plan(&list("auto"), Some(Family::Zen3), &mut refuse(number)).unwrap();
        let [line] = &planned.lines[..] else { panic!("{:?}", planned.lines) };
        assert!(line.starts_with("counters: none here: ") && line.contains(reason), "{line}");
        assert!(
            line.contains("counted in software instead: cpu-migrations, task-clock, minor-faults"),
            "{line}"
        );
        assert!(line.ends_with(", steal"), "{line}");
        assert_eq!(planned.plan.usage, Usage::ALL);
        assert!(planned.plan.groups.iter().flatten().all(|event| event.attribute.is_software()));
    }
}

#[test]
fn what_was_asked_for_by_name_is_replaced_too_and_only_then() {
    let planned = plan(&list("cycles"), None, &mut refuse(libc::ENOENT)).unwrap();
    assert_eq!(planned.plan.usage, Usage::ALL);
    let planned = plan(&list("minor-faults"), None, &mut refuse(libc::ENOENT)).unwrap();
    assert_eq!((planned.plan.usage, planned.lines), (vec![Usage::MinorFaults], vec![]));
}

#[test]
fn events_that_do_not_fit_take_turns() {
    let planned =
        plan(&list("cycles,instructions,branches,branch-misses,cycles"), None, &mut counters(3)).unwrap();
    let sizes: Vec<usize> = planned.plan.groups.iter().map(Vec::len).collect();
    assert_eq!((sizes, planned.lines), (vec![3, 1], vec![]));
    assert_eq!(
        planned.plan.labels().collect::<Vec<_>>(),
        ["cycles", "instructions", "branches", "branch-misses"]
    );
}

#[test]
fn what_the_system_counts_does_not_wait_for_the_processor() {
    let planned = plan(&list("cycles,cpu-migrations,instructions"), None, &mut counters(9)).unwrap();
    let labels: Vec<Vec<&str>> = planned
        .plan
        .groups
        .iter()
        .map(|group| group.iter().map(|event| event.label.as_str()).collect())
        .collect();
    assert_eq!(labels, [vec!["cycles", "instructions"], vec!["cpu-migrations"]]);
}

#[test]
fn an_event_that_counts_nonsense_is_dropped_with_a_line() {
    // As under a hypervisor that answers 0 for unknown events.
    let mut trial = |events: &[Event]| {
        let count = |event: &Event| Reading::whole(if event.label == "cycles" { 20 * EACH } else { 0 });
        Ok(events.iter().map(count).collect())
    };
    let planned = plan(&list("cycles,lock-loads"), Some(Family::SkylakeServer), &mut trial).unwrap();
    assert_eq!(planned.plan.labels().collect::<Vec<_>>(), ["cycles"]);
    let [line] = &planned.lines[..] else { panic!("{:?}", planned.lines) };
    assert!(line.contains("mem_inst_retired.lock_loads is not trusted here: it counted 0.00 per"), "{line}");
}

#[test]
fn quantities_are_this_processors_events() {
    let label = |word: &str, family| {
        let planned = plan(&list(word), family, &mut counters(9)).unwrap();
        (planned.plan.groups.concat().first().map(|event| event.label.clone()), planned.lines)
    };
    let haswell = Some("mem_uops_retired.lock_loads".to_string());
    assert_eq!(label("lock-loads", Some(Family::Haswell)).0, haswell);
    // Another maker's name stands for the same quantity.
    assert_eq!(label("mem_inst_retired.lock_loads", Some(Family::Haswell)).0, haswell);
    let (none, lines) = label("lock-loads", Some(Family::Zen4));
    assert_eq!(none, None);
    assert_eq!(lines, ["counters: no event of Zen 4 is known for lock-loads"]);
    assert_eq!(label("r21d0", None).0, Some("r21d0".into()));
}

#[test]
fn some_that_are_missing_are_named_with_the_reason() {
    let mut trial = |events: &[Event]| match events {
        [event] if event.label.starts_with("LLC") => Err(Refusal::of(libc::ENOENT)),
        _ => Ok(vec![Reading::whole(EACH); events.len()]),
    };
    let planned = plan(&list("LLC-loads,cycles,LLC-load-misses"), None, &mut trial).unwrap();
    let [line] = &planned.lines[..] else { panic!("{:?}", planned.lines) };
    assert!(
        line.starts_with("counters: not counted here: LLC-loads, LLC-load-misses (the processor"),
        "{line}"
    );
    assert_eq!(planned.plan.usage, []);
}

#[test]
fn names_that_nobody_knows_are_errors() {
    let error = |word: &str| plan(&list(word), None, &mut counters(9)).unwrap_err().to_string();
    assert_eq!(error("cyles"), "there is no counter `cyles`; did you mean `cycles`?");
    assert!(error("tlab").contains("`allotment counters` lists them"));
    assert!(error("").contains("there is no counter ``"));
}

#[test]
fn this_machine_has_a_plan() {
    let planned = plan(&list("auto"), Family::detect(), &mut super::super::trial).unwrap();
    assert!(planned.plan.usage.contains(&Usage::MinorFaults));
    assert_eq!(here().is_err(), planned.lines.iter().any(|line| line.contains("none here")), "{planned:?}");
    super::super::ThreadCounters::open(&planned.plan).unwrap();
}
