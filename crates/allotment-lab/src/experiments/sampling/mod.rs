//! What allocation samples cost, and how exact the estimates are that they lead to.
//!
//! Mode `alloc` times a loop of small objects at each interval; 0 is without samples. A sample
//! itself costs so little that the difference of two processes does not show it. So the same
//! process also allocates with samples and without in turn, on the processor's clock.
//!
//! Mode `estimate` runs programs that know what they allocate, of the kinds that samplers get
//! wrong, and compares the profile with that. The page `docs/experiments/sampling.md` says how to
//! read the result.

mod cost;
mod estimate;
mod programs;

use super::memory;
use super::saying::{all_against, metric, of_mode, ours, range_of, spread, whose};
use super::shots::{check_one_thread, check_shots};
use super::sizes::{self, WithSize, by_size};
use crate::format::ScoreRow;
use crate::format::phrase::time;
use crate::harness::{Axis, Bench, Case, Charts, Experiment, Kind, Mode, TimeUnit};
use allotment::Heap;
use anyhow::{bail, ensure};
use programs::PROGRAMS;

/// Bytes of the heap, all of them garbage.
const HEAP_BYTES: usize = 256 << 20;

const ALLOC: &[&str] = &["alloc"];
const ESTIMATE: &[&str] = &["estimate"];

/// The experiment `sampling`.
pub(super) static SAMPLING: Experiment = Experiment {
    name: "sampling",
    question: "What do allocation samples cost, and how exact are the profiles made of them?",
    modes: &[
        Mode::timed("alloc", "a loop of small objects, with samples and without"),
        Mode::shot("estimate", "programs that know what they allocate, against their profiles"),
    ],
    axes: &[
        Axis::new("size", "bytes of an object, header included", Kind::Size, &["64"])
            .full(&["16", "64", "256", "1024"])
            .only_in(ALLOC),
        Axis::new("program", "what is allocated", Kind::Choice(PROGRAMS), PROGRAMS)
            .quick(&["sizes", "threads"])
            .only_in(ESTIMATE),
        Axis::new("allocated", "bytes that a program allocates", Kind::Size, &["256m"])
            .quick(&["32m"])
            .only_in(ESTIMATE),
        Axis::new(
            "interval",
            "option AllocationSampleInterval of the heap; 0: no samples",
            Kind::Size,
            &["0", "4m", "512k", "64k", "8k"],
        )
        .quick(&["8k"]),
    ],
    unit: |_| TimeUnit::Nanoseconds,
    // More threads share the heap and its collections, and say nothing else about samples.
    threads: |_, _| vec![1],
    baseline: Some(("interval", "0")),
    charts: Charts { along: None, by_mode: true },
    answers,
    needs: "rows of mode alloc with --interval 0 and another, or of mode estimate",
    verdicts,
    check,
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    // A quick run has no rows without samples, but knows the cost of one.
    let cost = spread(&rows, "alloc", "interval", "0").or_else(|| {
        let (least, most) = range_of(&rows, "sample")?;
        let range = if least == most { time(most) } else { format!("{} to {}", time(least), time(most)) };
        Some(format!("A sample (alloc) costs {range}."))
    });
    let exact = range_of(&rows, "error.bytes").map(|(least, most)| {
        format!("Estimated bytes (estimate) are off by {least:.1} % at best and {most:.1} % at worst.")
    });
    cost.into_iter().chain(exact).collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let mut said = all_against(&of_mode(&rows, "alloc"), "interval", "0", "size");
    said.extend(rows.iter().filter_map(|row| {
        if let Some(sample) = metric(row, "sample") {
            let place = whose(row, &rows);
            return Some(format!("{place}: a sample costs {:.0} ns.", sample.score()));
        }
        let error = metric(row, "error.bytes")?.score();
        let worst = metric(row, "deviation.max").map_or(String::new(), |worst| {
            format!(", and no estimate by more than {:.1} standard deviations", worst.score())
        });
        let place = whose(row, &rows);
        Some(format!("{place}: estimated bytes are off by {error:.1} %{worst}."))
    }));
    said
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match case.mode.as_str() {
        "alloc" => by_size::<Loop>(case, bench),
        "estimate" => estimate::run(case, bench),
        other => bail!("there is no mode `{other}`"),
    }
}

/// The measured loop of mode `alloc`, by the size of an object.
struct Loop;

impl WithSize for Loop {
    fn run_sized<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        cost::run::<BYTES>(case, bench)
    }
}

/// The heap of a case, without samples as yet.
fn heap(options: &str) -> anyhow::Result<Heap> {
    Ok(Heap::builder().name("lab").max_heap_size(HEAP_BYTES).options(options)?.build()?)
}

fn check(case: &Case) -> anyhow::Result<()> {
    let estimates = case.mode == "estimate";
    check_shots(case, estimates, "ss measures estimates, and nothing else does")?;
    if estimates {
        check_one_thread(case, "one runs a program, which has its own")?;
        let (allocated, least) = (case.size("allocated")?, programs::LEAST_BYTES);
        ensure!(allocated >= least, "{allocated} bytes allocated: {least} or more work");
        ensure!(case.size("interval")? != 0, "interval=0: without samples there are no estimates");
    } else {
        sizes::check(case.size("size")?)?;
    }
    memory::fits("a heap", HEAP_BYTES, "no other sizes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (mode, name, value, threads, reason) in [
            ("alloc", "size", "17", 1, "the sizes compiled in are"),
            ("estimate", "interval", "0", 1, "there are no estimates"),
            ("estimate", "allocated", "1m", 1, "or more work"),
            ("estimate", "interval", "64k", 2, "2 threads: one runs a program"),
        ] {
            let values = vec![(name.to_string(), vec![value.to_string()])];
            let (modes, threads) = (vec![mode.to_string()], vec![threads]);
            let selection = Selection { values, modes, threads, quick: true, ..Selection::default() };
            let error = expand(&[&SAMPLING], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        for (mode, jmh_mode) in [("alloc", JmhMode::SingleShot), ("estimate", JmhMode::AverageTime)] {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, quick: true, ..Selection::default() };
            let error = expand(&[&SAMPLING], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures estimates"), "{error}");
        }
    }
}
