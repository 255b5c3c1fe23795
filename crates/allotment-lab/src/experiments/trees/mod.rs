//! Binary trees that die beside one that lives: the classic benchmark of collectors.
//!
//! The work is that of GCBench (Ellis, Kovac and Boehm, 1997) at one depth. Trees are made from the
//! top, by stores into existing objects, and from the bottom, by initialisers alone, in equal
//! shares. Meanwhile a tree four times as large and an array of numbers stay alive.
//! `crates/allotment-lab/jvm/src/main/java/allotment/Trees.java` does the same on a Java virtual
//! machine, and `crates/allotment-lab/c/trees.c` does it in C.
//!
//! Refused: GCBench's many depths. A score for one depth is easier to read, and `--depth` sets
//! another.

mod in_c;
mod node;
mod shot;
mod spans;
mod tree;

use super::collectors::{COLLECTOR, WORKERS, by_workers, check as check_heap};
use super::compilers::{COMPILER, compiler_of};
use super::on_jvm;
use super::saying::{all_against, contrast, ours, scaling, spread, takes};
use super::shots::check_shots;
use crate::format::ScoreRow;
use crate::format::coordinates::THREADS;
use crate::harness::{Axis, Case, Charts, Experiment, Kind, Mode, ObjectShape, TimeUnit};
use allotment::Heap;
use anyhow::ensure;

/// The deepest tree: 2^31 nodes of 32 bytes. The tree that stays alive has two levels more.
const MAX_DEPTH: u64 = 30;

/// The experiment `trees`.
pub(super) static TREES: Experiment = Experiment {
    name: "trees",
    question: "How long do threads take to make and drop binary trees while a larger tree lives on?",
    modes: &[
        Mode::shot("build", "make trees from the top and from the bottom, drop each"),
        Mode::shot("spans", "the same, small subtrees without a root or a safepoint"),
        Mode::shot("c", "the same as build, in C with the inlines of allotment.h (needs a C compiler)"),
    ],
    axes: &[
        Axis::new("heap", "MaxHeapSize in bytes", Kind::Size, &["128m", "256m", "1g"]),
        Axis::new("depth", "levels below the top of each tree", Kind::Count, &["16"]),
        Axis::new("rounds", "trees of each kind that a thread makes", Kind::Count, &["100"]).quick(&["25"]),
        COLLECTOR,
        WORKERS,
        COMPILER.only_in(&["c"]),
    ],
    unit: |_| TimeUnit::Seconds,
    baseline: Some(("collector", "mark-compact")),
    answers,
    needs: "a row of mode build or spans",
    verdicts,
    charts: Charts { along: Some("heap"), by_mode: false },
    check,
    on_jvm: on_jvm::trees,
    objects: || vec![ObjectShape::of::<node::Node>(Some("Trees$Node:Trees$Padded"))],
    run: shot::run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let time = takes(&rows, "build", THREADS).or_else(|| takes(&rows, "spans", THREADS));
    let collectors = spread(&rows, "build", "collector", "mark-compact");
    time.map(|text| text + ".").into_iter().chain(collectors).collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let mut said = all_against(&rows, "collector", "mark-compact", "heap");
    said.extend(contrast(&rows, "mode", "spans", "build", "collector"));
    said.extend(contrast(&rows, "mode", "c", "build", "cc"));
    said.extend(["build", "spans", "c"].iter().filter_map(|mode| scaling(&rows, mode)));
    said
}

fn check(case: &Case) -> anyhow::Result<()> {
    let (depth, rounds) = (case.count("depth")?, case.count("rounds")?);
    check_shots(case, true, "the work is a shot, which only ss measures")?;
    ensure!(depth <= MAX_DEPTH, "trees of depth {depth}: at most {MAX_DEPTH} works");
    ensure!(rounds != 0, "no rounds: there is nothing to make");
    check_heap(case.text("collector")?, case.size("heap")?)?;
    by_workers(Heap::builder(), case.count("workers")?)?;
    if case.mode == "c" { compiler_of(case).map(drop) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("depth", "31", "at most 30"),
            ("rounds", "0", "nothing to make"),
            ("heap", "1m", "MaxHeapSize"),
            ("heap", "16384t", "of memory, and there are "),
            ("workers", "1025", "ParallelGCThreads"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            values.push(("collector".into(), vec!["mark-compact".into()]));
            let error = expand(&[&TREES], &Selection { quick: true, values, ..Selection::default() }, 2);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        let jmh_modes = vec![JmhMode::AverageTime];
        let error = expand(&[&TREES], &Selection { jmh_modes, ..Selection::default() }, 2).unwrap_err();
        assert!(error.to_string().contains("only ss"), "{error}");
    }
}
