//! The cost of a load, a store and a walk to a mutator, for each collector, and for a concurrent
//! one in each phase of its cycles.
//!
//! A barrier tests a bit of the thread's state. Between cycles this is all it does, whatever the
//! collector. While a cycle marks, stores take a slow path; while it forwards, loads do. A mean
//! over a program's time would hide both. So a cycle is held in a phase while a thread measures
//! ([`scene`]).
//!
//! Refused:
//! - Phases of natural cycles, told apart by the barriers that are in force before and after some
//!   operations. A phase of a small heap ends in microseconds, and a score needs millions of them.
//! - A mode of `api`. That experiment divides by raw pointers; this one by the same operation with
//!   no cycle under way.

mod node;
mod requests;
mod scene;

use super::collectors::{COLLECTOR, check as check_heap, full_heap, is_concurrent};
use super::memory;
use super::saying::{all_against, ours, spread, values};
use super::shots::check_one_thread;
use crate::format::ScoreRow;
use crate::format::coordinates::{MODE, value};
use crate::harness::{
    Axis, Bench, Case, Charts, Experiment, JmhMode, Kind, Mode, NoProbe, ObjectShape, ParameterError,
    TimeUnit,
};
use allotment::raw::Hot;
use allotment::root;
use anyhow::ensure;
use node::BYTES;
use requests::{End, Requests};
use scene::{BALLAST, Operation, Passing};
use std::thread;

/// Bytes that buffers and open regions may leave unused beside the objects.
const SLACK: usize = 16 << 20;

/// The phase of a cycle in which a case is measured, or that no cycle is under way.
const PHASES: &[(&str, u32)] =
    &[(IDLE, 0), ("marking", Hot::MARKING), ("weak", Hot::WEAK), ("forwarding", Hot::FORWARDING)];
const IDLE: &str = "none";

/// The experiment `barriers`.
pub(super) static BARRIERS: Experiment = Experiment {
    name: "barriers",
    question: "What do loads and stores of references cost, with each collector and in each phase of a cycle?",
    modes: &[
        Mode::timed("load", "Field::load of each slot of an array"),
        Mode::timed("store", "Field::store to each slot of an array"),
        Mode::timed("walk", "from a node of a list to the next"),
        Mode::timed("weak", "WeakField::load, one slot again and again"),
    ],
    axes: &[
        Axis::new("length", "slots of the array, nodes of the list", Kind::Count, &["4096", "1048576"]),
        Axis {
            default: &["parallel", "mark-compact", "shenandoah", "genshen", "epsilon"],
            quick: &["shenandoah"],
            ..COLLECTOR
        },
        Axis::new(
            "phase",
            "what a concurrent cycle is held in; none: no cycle is under way",
            Kind::Choice(&["none", "marking", "weak", "forwarding"]),
            &["none", "marking", "weak", "forwarding"],
        )
        .quick(&["none", "marking", "forwarding"]),
    ],
    slow: &["store", "walk", "weak"],
    threads: |_, _| vec![1],
    unit: |_| TimeUnit::Nanoseconds,
    baseline: Some(("phase", IDLE)),
    answers,
    needs: "rows with a cycle and without, such as --phase none,marking",
    verdicts,
    charts: Charts { along: Some("length"), by_mode: true },
    check,
    objects: || vec![ObjectShape::of::<node::Node>(None)],
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let modes = values(&rows, MODE);
    modes.iter().filter_map(|(mode, _)| spread(&rows, mode, "phase", IDLE)).collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let idle: Vec<ScoreRow> = rows
        .iter()
        .filter(|row| value(row, "phase").is_some_and(|(phase, _)| phase == IDLE))
        .cloned()
        .collect();
    let mut said = all_against(&idle, "collector", "parallel", "length");
    said.extend(all_against(&rows, "phase", IDLE, "length"));
    said
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let (length, operation) = (case.size("length")?, Operation::of(&case.mode)?);
    let wanted = barriers_of(case)?;
    let heap = full_heap(case.text("collector")?, heap_bytes(length))?.always_pre_touch(true).build()?;
    let requests = Requests::default();
    thread::scope(|scope| {
        let _end = End(&requests);
        if wanted != 0 {
            let serve = || heap.attach(|mutator| requests.serve(mutator));
            thread::Builder::new().name("asks for cycles".into()).spawn_scoped(scope, serve)?;
        }
        bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
            root!(mutator, mut nodes = None, mut ballast = None);
            play.play(Passing::new(mutator, [nodes, ballast], operation, length, wanted, &requests))
        })
    })
}

/// The barriers that are in force in the phase of a case.
fn barriers_of(case: &Case) -> Result<u32, ParameterError> {
    let phase = case.text("phase")?;
    Ok(PHASES.iter().find(|(name, _)| *name == phase).map_or(0, |(_, bits)| *bits))
}

/// Bytes of the heap of a case. It is never filled by more than a quarter, so that no cycle begins
/// unless it is asked for. A dead node lies beside each live one.
fn heap_bytes(length: usize) -> usize {
    let nodes = length.saturating_add(BALLAST);
    nodes.saturating_mul(2 * BYTES + size_of::<u64>()).saturating_mul(4).saturating_add(4 * SLACK)
}

fn check(case: &Case) -> anyhow::Result<()> {
    let (length, collector) = (case.size("length")?, case.text("collector")?);
    check_one_thread(case, "the thread that measures holds the cycle, so there is one")?;
    ensure!(case.jmh_mode != JmhMode::SingleShot, "{}: a pass over the slots is not a shot", case.jmh_mode);
    ensure!(length != 0, "an empty array or list has nothing to look at");
    let is_possible = barriers_of(case)? == 0 || is_concurrent(collector);
    ensure!(is_possible, "only a concurrent collector has cycles with phases");
    let bytes = heap_bytes(length);
    memory::fits("heaps of barriers", bytes, "smaller ones")?;
    check_heap(collector, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

    fn refused(selection: Selection) -> String {
        expand(&[&BARRIERS], &Selection { quick: true, ..selection }, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("length", "0", "nothing to look at"),
            ("length", "18446744073709551615", "of memory"),
            ("phase", "evacuation", "not one of none, marking, weak, forwarding"),
        ] {
            let values = vec![(name.to_string(), vec![value.to_string()])];
            let error = refused(Selection { values, ..Selection::default() });
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        let values = [("collector", "parallel"), ("phase", "marking")];
        let values = values.map(|(name, value)| (name.to_string(), vec![value.to_string()])).to_vec();
        assert!(
            refused(Selection { values, ..Selection::default() }).contains("only a concurrent collector")
        );
        assert!(refused(Selection { threads: vec![2], ..Selection::default() }).contains("so there is one"));
        let jmh_modes = vec![JmhMode::SingleShot];
        assert!(refused(Selection { jmh_modes, ..Selection::default() }).contains("not a shot"));
    }

    #[test]
    fn each_collector_is_measured_idle_and_a_concurrent_one_in_each_phase() {
        let (cases, left_out) = expand(&[&BARRIERS], &Selection::default(), 2).unwrap();
        for mode in ["load", "weak"] {
            let of = |phase: &str| {
                cases.iter().filter(|case| case.mode == mode && case.text("phase") == Ok(phase)).count()
            };
            // Five collectors idle, and two in each phase; of two lengths each.
            assert_eq!((of("none"), of("marking"), of("forwarding")), (2 * 5, 2 * 2, 2 * 2), "{mode}");
        }
        assert_eq!(left_out.len(), 4, "one line a mode: {left_out:?}");
    }
}
