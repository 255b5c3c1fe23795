//! Binary trees that die beside one that lives: the classic benchmark of collectors.
//!
//! The work is that of GCBench (Ellis, Kovac and Boehm, 1997) at one depth. Trees are made from the
//! top, by stores into existing objects, and from the bottom, by initialisers alone, in equal
//! shares. Meanwhile a tree four times as large and an array of numbers stay alive.
//! `crates/allotment-lab/jvm/src/main/java/allotment/Trees.java` does the same on a Java virtual
//! machine.
//!
//! Refused: GCBench's many depths. A score for one depth is easier to read, and `--depth` sets
//! another.

mod node;
mod shot;
mod spans;
mod tree;

use super::collectors::{COLLECTOR, WORKERS, refusal, workers_refusal};
use super::on_jvm;
use super::saying::{all_against, contrast, ours, scaling, spread, takes};
use crate::format::coordinates::THREADS;
use crate::format::{Comparison, ScoreRow};
use crate::harness::{
    Axis, Baseline, Bench, Case, Charts, Experiment, JmhMode, Kind, Mode, ObjectShape, ParameterError,
    TimeUnit,
};
use crate::jvm::Workload;

/// The experiment `trees`.
#[derive(Clone, Copy, Debug)]
pub struct Trees;

/// The deepest tree: 2^31 nodes of 32 bytes. The tree that stays alive has two levels more.
const MAX_DEPTH: u64 = 30;

impl Experiment for Trees {
    fn name(&self) -> &'static str {
        "trees"
    }

    fn question(&self) -> &'static str {
        "How long do threads take to make and drop binary trees while a larger tree lives on?"
    }

    fn modes(&self) -> &'static [Mode] {
        &[
            Mode {
                name: "build",
                what: "make trees from the top and from the bottom, drop each",
                jmh_modes: &[JmhMode::SingleShot],
            },
            Mode {
                name: "spans",
                what: "the same, small subtrees without a root or a safepoint",
                jmh_modes: &[JmhMode::SingleShot],
            },
        ]
    }

    fn axes(&self) -> &'static [Axis] {
        const AXES: &[Axis] = &[
            Axis::new("heap", "MaxHeapSize in bytes", Kind::Size, &["128m", "256m", "1g"]),
            Axis::new("depth", "levels below the top of each tree", Kind::Count, &["16"]),
            Axis::new("rounds", "trees of each kind that a thread makes", Kind::Count, &["100"])
                .quick(&["25"]),
            COLLECTOR,
            WORKERS,
        ];
        AXES
    }

    fn unit(&self, _mode: JmhMode) -> TimeUnit {
        TimeUnit::Seconds
    }

    fn baseline(&self) -> Option<Baseline> {
        Some(Baseline::axis("collector", "mark-compact"))
    }

    fn answers(&self, rows: &[ScoreRow]) -> Vec<String> {
        let rows = ours(rows);
        let time = takes(&rows, "build", THREADS).or_else(|| takes(&rows, "spans", THREADS));
        let collectors = spread(&rows, "build", "collector", "mark-compact");
        time.map(|text| text + ".").into_iter().chain(collectors).collect()
    }

    fn needs(&self) -> &'static str {
        "a row of mode build or spans"
    }

    fn verdicts(&self, rows: &[ScoreRow], _comparison: &Comparison) -> Vec<String> {
        let rows = ours(rows);
        let mut said = all_against(&rows, "collector", "mark-compact", "heap");
        said.extend(contrast(&rows, "mode", "spans", "build", "collector"));
        said.extend(["build", "spans"].iter().filter_map(|mode| scaling(&rows, mode)));
        said
    }

    fn charts(&self) -> Charts {
        Charts { along: Some("heap"), ..Charts::default() }
    }

    fn nonsense(&self, case: &Case) -> Option<String> {
        // A missing parameter is reported when the case runs.
        checked(case).unwrap_or(None)
    }

    fn on_jvm(&self, case: &Case) -> Option<Workload> {
        // A missing parameter is reported when the case runs.
        on_jvm::trees(case).unwrap_or(None)
    }

    fn objects(&self) -> Vec<ObjectShape> {
        vec![ObjectShape::of::<node::Node>(Some("Trees$Node:Trees$Padded"))]
    }

    fn run(&self, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        shot::run(case, bench)
    }
}

fn checked(case: &Case) -> Result<Option<String>, ParameterError> {
    let (depth, rounds) = (case.count("depth")?, case.count("rounds")?);
    if case.jmh_mode != JmhMode::SingleShot {
        return Ok(Some(format!("{}: the work is a shot, which only ss measures", case.jmh_mode)));
    }
    if depth > MAX_DEPTH {
        return Ok(Some(format!("trees of depth {depth}: at most {MAX_DEPTH} works")));
    }
    if rounds == 0 {
        return Ok(Some("no rounds: there is nothing to make".into()));
    }
    let refused = refusal(case.text("collector")?, case.size("heap")?);
    Ok(refused.or(workers_refusal(case.count("workers")?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

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
            let error = expand(&[&Trees], &Selection { quick: true, values, ..Selection::default() }, 2);
            let error = error.unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        let jmh_modes = vec![JmhMode::AverageTime];
        let error = expand(&[&Trees], &Selection { jmh_modes, ..Selection::default() }, 2).unwrap_err();
        assert!(error.to_string().contains("only ss"), "{error}");
    }
}
