//! Heaps under pressure: little free memory, many threads or handles, large arrays, bursts.
//!
//! Each mode is a program after a report of somebody who used a heap, this one or another. A
//! concurrent collector that does well elsewhere may fall back into stops in such a program, or
//! leave its threads without memory. The page `docs/experiments/pressure.md` says how to read the
//! result.
//!
//! A shot lasts for a time, not for an amount of work: a heap that fails would need hours for the
//! work of one that does not. So the score is the time that was asked for, and the answer is in the
//! figures.
//!
//! Refused: modes of the other experiments. These cases share figures, and no parameters.

mod crowd;
mod figures;
mod full;
mod graph;
mod idle;
mod large;
mod light;
mod node;
mod plan;
mod shot;
mod verdict;
mod watch;

use super::collectors::COLLECTOR;
use super::on_jvm;
use super::prepared;
use super::shots::{check_one_thread, check_shots};
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Latency, Mode, ObjectShape};
use large::Long;
use plan::PressurePlan;
use shot::Shot;
use std::time::Duration;

/// The time in which the threads of a case make what lives, for estimates.
const PREPARATION: Duration = Duration::from_millis(500);

/// The modes that have a heap of a size of their own.
const SIZED: &[&str] = &[
    "giveup",
    "humongous",
    "innocent",
    "burst",
    "tight",
    "threads",
    "ttsp",
    "rootsmany",
    "gcstorm",
    "shrink",
];

/// The modes that last for a time.
const TIMED: &[&str] =
    &["giveup", "humongous", "innocent", "burst", "tight", "threads", "ttsp", "rootsmany", "shrink", "graph"];

/// The experiment `pressure`.
pub(super) static PRESSURE: Experiment = Experiment {
    name: "pressure",
    question: "How long do threads wait where memory is tight, threads are many, or arrays are large?",
    modes: &[
        Mode::shot("giveup", "a heap with 0.1 % free: does an allocation fail in the end?"),
        Mode::shot("humongous", "large arrays that die at once, beside 38 % that lives"),
        Mode::shot("innocent", "a thread that allocates little, beside two that allocate much"),
        Mode::shot("burst", "a rest, then three quarters of the heap at once, again and again"),
        Mode::shot("tight", "80 % lives, and is replaced in lists of 1,024 nodes"),
        Mode::shot("threads", "two threads that allocate, beside many that sleep"),
        Mode::shot("ttsp", "a thread that allocates, beside one that works on arrays of 256m"),
        Mode::shot("rootsmany", "a thread that allocates and holds many handles"),
        Mode::shot("gcstorm", "16 threads that ask for a collection at once"),
        Mode::shot("shrink", "a peak, then rest, then a light load"),
        Mode::shot("graph", "a graph that is changed at random, in a heap that is little larger"),
    ],
    axes: &[
        Axis {
            default: &["parallel", "shenandoah", "genshen"],
            quick: &["genshen"],
            full: &["parallel", "mark-compact", "shenandoah", "genshen"],
            ..COLLECTOR
        },
        Axis::new("heap", "bytes of the heap; 0: those of the report", Kind::Size, &["0"]).only_in(SIZED),
        Axis::new("duration", "ms that a shot lasts", Kind::Count, &["6000"]).quick(&["500"]).only_in(TIMED),
        Axis::new("sleepers", "threads that sleep", Kind::Count, &["10", "2000"])
            .quick(&["500"])
            .only_in(&["threads"]),
        Axis::new("handles", "roots that the thread holds", Kind::Count, &["2000", "2000000"])
            .quick(&["200000"])
            .only_in(&["rootsmany"]),
        Axis::new(
            "long",
            "operation on large arrays; make: of numbers, fill and copy: of references",
            Kind::Choice(Long::WORDS),
            &["make", "fill", "copy"],
        )
        .full(Long::WORDS)
        .only_in(&["ttsp"]),
        Axis::new("live", "bytes of the graph", Kind::Size, &["32m"]).only_in(&["graph"]),
        Axis::new("factor", "MaxHeapSize over live", Kind::Factor, &["1.5", "2", "3"]).only_in(&["graph"]),
    ],
    // The number of measuring threads; those of a case are its own.
    threads: |_, _| vec![1],
    answers: verdict::answers,
    needs: "a row with a pause",
    verdicts: verdict::verdicts,
    latencies: &[Latency { label: figures::OPERATION, what: "operation" }],
    check,
    shot_time: |case| Some(PressurePlan::of(case).ok()?.lasts + PREPARATION),
    silence: |case| PressurePlan::of(case).map_or(Duration::ZERO, |plan| 2 * plan.lasts),
    on_jvm: |case| match PressurePlan::of(case) {
        Ok(plan) => on_jvm::pressure(case, plan.heap, plan.lasts),
        Err(_) => Ok(None),
    },
    objects: || vec![ObjectShape::of::<node::Node>(Some("Pressure$Node:Pressure$Padded"))],
    run,
    ..Experiment::NEW
};

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let plan = PressurePlan::of(case)?;
    prepared::measure(bench, || Shot::prepare(&plan))
}

fn check(case: &Case) -> anyhow::Result<()> {
    check_shots(case, true, "each shot has a fresh heap, so only ss measures it")?;
    check_one_thread(case, "one measures; the threads of a case are its own")?;
    PressurePlan::of(case)?.fits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    fn refused(selection: Selection) -> String {
        expand(&[&PRESSURE], &Selection { quick: true, ..selection }, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (mode, name, value, reason) in [
            ("threads", "sleepers", "100000", "at most 4096"),
            ("rootsmany", "handles", "1000000000", "at most 100000000"),
            ("ttsp", "long", "move", "not one of make"),
            ("tight", "duration", "0", "nothing to measure"),
            ("tight", "duration", "3600001", "at most 3600"),
            ("gcstorm", "collector", "epsilon", "cannot be asked to"),
            ("giveup", "heap", "1m", "MaxHeapSize"),
            ("giveup", "heap", "16384t", "of memory"),
            ("graph", "live", "16384t", "of memory"),
            ("graph", "factor", "0", "above 0"),
        ] {
            let (values, modes) = (vec![(name.to_string(), vec![value.to_string()])], vec![mode.to_string()]);
            let error = refused(Selection { values, modes, ..Selection::default() });
            assert!(error.contains(reason), "{mode} {name}={value}: {error}");
        }
        let many = Selection { threads: vec![2], ..Selection::default() };
        assert!(refused(many).contains("of a case are its own"));
        let timed = Selection { jmh_modes: vec![JmhMode::AverageTime], ..Selection::default() };
        assert!(refused(timed).contains("only ss"));
    }

    #[test]
    fn a_quick_run_has_every_mode_once() {
        let selection = Selection { quick: true, ..Selection::default() };
        let (cases, _) = expand(&[&PRESSURE], &selection, 2).unwrap();
        let modes: Vec<&str> = cases.iter().map(|case| case.mode.as_str()).collect();
        assert_eq!(modes, PRESSURE.modes.iter().map(|mode| mode.name).collect::<Vec<_>>());
        assert!(cases.iter().all(|case| (PRESSURE.shot_time)(case).unwrap() <= Duration::from_secs(1)));
    }
}
