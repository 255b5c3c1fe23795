//! The figures of `allotment simulate tlab`: a table for reading, JSON and CSV for programs.

use super::name;
use crate::tlab_simulation::{CollectorModel, Outcome, Scenario};
use allotment_report::command::wrapped;
use allotment_report::format::{Layout, number, phrase, time, width};
use std::fmt::Write as _;
use std::time::Duration;

/// The scenario, and a row for each policy.
pub(super) fn to_text(scenario: &Scenario, outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "A model, not a measurement: read the order of the rows, and numbers to within a factor.\n\n",
    );
    text += &told(scenario);
    let mut text = wrapped(&text) + "\n" + &table(outcomes);
    for outcome in outcomes {
        if let Some(when) = outcome.out_of_memory {
            let when = time::rough(Duration::from_secs_f64(when / 1e6));
            let policy = outcome.policy;
            text +=
                &wrapped(&format!("{policy}: out of memory after {when}; the figures are those until then"));
        }
    }
    text
}

/// The answer to the command's question: with which policies threads wait for memory, how many, and
/// for how long.
pub(super) fn answers(scenario: &Scenario, outcomes: &[Outcome]) -> Vec<String> {
    let (waiting, others): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().partition(|outcome| outcome.waited_threads > 0 || outcome.out_of_memory.is_some());
    let all = scenario.threads;
    let told = |outcome: &&Outcome| {
        let (policy, waited) = (outcome.policy, outcome.waited_threads);
        let longest =
            outcome.wait_max.map_or(String::new(), |longest| format!(", up to {}", time_of(longest)));
        let out = if outcome.out_of_memory.is_some() { ", and memory ran out" } else { "" };
        format!("{policy} ({waited} of {all}{longest}{out})")
    };
    let names =
        |outcomes: &[&Outcome]| outcomes.iter().map(|outcome| outcome.policy).collect::<Vec<_>>().join(", ");
    let collected = |outcome: &Outcome| {
        let Outcome { collections, warm_up_collections, degenerated, warm_up_degenerated, full, .. } =
            outcome;
        collections + warm_up_collections + degenerated + warm_up_degenerated + full > 0
    };
    let mut said = Vec::new();
    if !waiting.is_empty() {
        let with: Vec<String> = waiting.iter().map(told).collect();
        let none =
            if others.is_empty() { String::new() } else { format!("; with {} none did", names(&others)) };
        said.push(format!("Threads waited for memory with {}{none}.", with.join(", ")));
    } else if others.iter().any(|outcome| collected(outcome)) {
        said.push(format!("No thread of {all} waited for memory with {}.", names(&others)));
    }
    let idle: Vec<&Outcome> = others.into_iter().filter(|outcome| !collected(outcome)).collect();
    if !idle.is_empty() {
        said.push(format!(
            "The load never fills this heap with {}: no collection came, and no thread of {all} waited for memory.",
            names(&idle)
        ));
    }
    said
}

/// A time given in microseconds, in words.
fn time_of(microseconds: f64) -> String {
    phrase::time(microseconds * 1e3)
}

/// The scenario in lines.
fn told(scenario: &Scenario) -> String {
    let Scenario { threads, arrival, pace, think, operations, bytes, objects, cpu, .. } = scenario;
    let mut text = format!("{threads} threads, {}", name(arrival));
    if !pace.is_zero() {
        let _ = write!(text, ", pace {pace:?}");
    }
    if !think.is_zero() {
        let _ = write!(text, ", think {think:?}");
    }
    let _ = writeln!(
        text,
        "; at most {operations} operations of {bytes} bytes and {cpu:?}, in objects of {} to {}",
        objects.0, objects.1
    );
    let size = |bytes: u64| if bytes == 0 { "none".into() } else { number::size(bytes) };
    let region = scenario.geometry().map_or(0, |geometry| geometry.region_bytes() as u64);
    let _ = writeln!(
        text,
        "heap {}, regions of {}, {} live; {} % of an operation survive, {} at most for each thread",
        size(scenario.heap),
        size(region),
        size(scenario.live),
        scenario.survives,
        size(scenario.keeps)
    );
    if let Some(rebuild) = scenario.rebuild {
        let _ = writeln!(
            text,
            "a thread that allocates {} bytes in {:?} every {:?}, of which {} stay in the place of others",
            rebuild.bytes, rebuild.cpu, rebuild.every, rebuild.keeps
        );
    }
    let _ = writeln!(
        text,
        "{} CPUs with slices of {:?}; collector {}, {} workers in stops, {} beside threads; seed {}",
        scenario.cpus,
        scenario.time_slice,
        name(&scenario.collector),
        scenario.workers,
        if scenario.collector == CollectorModel::Parallel { 0 } else { scenario.concurrent_workers },
        scenario.seed
    );
    text
}

/// Microseconds as text with a unit, so that columns need none.
fn duration(microseconds: Option<f64>) -> String {
    match microseconds {
        None => "-".into(),
        Some(time) if time < 10.0 => format!("{time:.1}us"),
        Some(time) if time < 1000.0 => format!("{time:.0}us"),
        Some(time) if time < 1e4 => format!("{:.1}ms", time / 1e3),
        Some(time) if time < 1e6 => format!("{:.0}ms", time / 1e3),
        Some(time) if time < 1e7 => format!("{:.1}s", time / 1e6),
        Some(time) => format!("{:.0}s", time / 1e6),
    }
}

/// A size in whole KiB.
fn kib(bytes: u64) -> String {
    number::size(bytes.next_multiple_of(1024))
}

fn percent(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.1}%"))
}

/// A count, with that of the warm-up in parentheses if it is not 0.
fn with_warm_up(count: u64, warm_up: u64) -> String {
    if warm_up == 0 { count.to_string() } else { format!("{count} ({warm_up})") }
}

fn table(outcomes: &[Outcome]) -> String {
    let columns: [(&str, fn(&Outcome) -> String); 21] = [
        ("Policy", |one| one.policy.to_string()),
        ("buffers", |one| format!("{}-{}", kib(one.first_buffer), kib(one.largest_buffer))),
        ("waited", |one| one.waited_threads.to_string()),
        ("wait p50", |one| duration(one.wait_p50)),
        ("wait p99", |one| duration(one.wait_p99)),
        ("wait max", |one| duration(one.wait_max)),
        ("first p99", |one| duration(one.first_p99)),
        ("first >1ms", |one| one.first_over_1ms.to_string()),
        ("op p50", |one| duration(one.p50)),
        ("op p99", |one| duration(one.p99)),
        ("op p99.9", |one| duration(one.p99_9)),
        ("op max", |one| duration(one.max)),
        ("unused", |one| percent(one.first_unused)),
        ("waste", |one| percent(Some(one.waste))),
        ("refills", |one| one.refills.to_string()),
        ("cycles", |one| with_warm_up(one.collections, one.warm_up_collections)),
        ("degen.", |one| with_warm_up(one.degenerated, one.warm_up_degenerated)),
        ("full", |one| one.full.to_string()),
        ("stops", |one| one.stops.to_string()),
        ("pause", |one| duration(Some(one.longest_pause.max(one.warm_up_longest_pause)))),
        ("cpu", |one| percent(Some(one.cpu))),
    ];
    let row = |outcome: &Outcome| columns.iter().map(|(_, cell)| cell(outcome)).collect();
    let header = columns.map(|(head, _)| head.to_string()).to_vec();
    Layout { header, rows: outcomes.iter().map(row).collect(), words: vec![0] }.text(width::of_output())
}

/// An array with an object for each policy. Ends with a newline.
///
/// # Errors
/// None in practice: serde_json fails only on map keys that are not strings, and there are none.
pub(super) fn to_json(outcomes: &[Outcome]) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(outcomes)?;
    text.push(b'\n');
    Ok(text)
}

/// The fields of the JSON, with a line for each policy. No value needs quotes, and an unknown value
/// is empty.
pub(super) fn to_csv(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(outcome) else { continue };
        if text.is_empty() {
            text = fields.keys().cloned().collect::<Vec<_>>().join(",") + "\r\n";
        }
        let cell = |value: &serde_json::Value| match value {
            serde_json::Value::Null => String::new(),
            serde_json::Value::String(word) => word.clone(),
            other => other.to_string(),
        };
        text += &(fields.values().map(cell).collect::<Vec<_>>().join(",") + "\r\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tlab_simulation::simulate;

    #[test]
    fn who_waits_and_whether_the_heap_fills_is_answered() {
        let short = Scenario { operations: 2, before: 0, threads: 20, ..Scenario::storm() };
        let of = |scenario: Scenario| answers(&scenario, &[simulate(&scenario).unwrap()]);
        let idle = of(short);
        let expected = "The load never fills this heap with adaptive: no collection came, and no thread of 20 waited for \
                        memory.";
        assert_eq!(idle, [expected]);
        let mut outcome = simulate(&short).unwrap();
        outcome.collections = 3;
        assert_eq!(answers(&short, &[outcome.clone()]), ["No thread of 20 waited for memory with adaptive."]);
        let waiting =
            Outcome { policy: "hotspot", waited_threads: 7, wait_max: Some(86_500.0), ..outcome.clone() };
        let both = answers(&short, &[waiting.clone(), outcome]);
        assert_eq!(
            both,
            ["Threads waited for memory with hotspot (7 of 20, up to 86.5 ms); with adaptive none did."]
        );
        let out = Outcome { waited_threads: 0, wait_max: None, out_of_memory: Some(1.0), ..waiting };
        assert_eq!(
            answers(&short, &[out]),
            ["Threads waited for memory with hotspot (0 of 20, and memory ran out)."]
        );
    }

    #[test]
    fn times_have_the_unit_that_suits_them() {
        for (time, text) in [
            (None, "-"),
            (Some(4.04), "4.0us"),
            (Some(116.4), "116us"),
            (Some(3430.0), "3.4ms"),
            (Some(151_000.0), "151ms"),
            (Some(4_000_000.0), "4.0s"),
            (Some(40_100_000.0), "40s"),
        ] {
            assert_eq!(duration(time), text);
        }
        assert_eq!((with_warm_up(3, 0), with_warm_up(3, 5)), ("3".into(), "3 (5)".into()));
    }
}
