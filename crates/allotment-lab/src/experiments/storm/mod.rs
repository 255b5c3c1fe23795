//! The behaviour of threads that all begin to allocate at the same instant.
//!
//! This is the problem behind JDK-8359947 ("use smaller TLABs by default") as a program. Threads
//! that have allocated nothing wait for one instant. Then each thread does a little work, sleeps,
//! and works again. If a thread's first buffer is large, some hundred threads take the whole heap
//! and use none of it. The other threads wait in their first refill until a collection returns the
//! unused memory. The page `docs/experiments/storm.md` says how to read the result.
//!
//! The threads belong to the experiment, and are not workers of the harness. Workers spin before a
//! shot until all are awake, which never happens with two thousand of them on a few CPUs. They may
//! also be bound to CPUs.
//!
//! Refused: a mode of `api`. That experiment measures the cost of calls; this one measures the
//! effect of a heap on the threads that share it.

mod figures;
mod operation;
mod plan;
mod shot;
mod verdict;

use super::collectors::COLLECTOR;
use super::prepared;
use super::shots::{check_one_thread, check_shots};
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Latency, Mode};
use plan::StormPlan;
use shot::Storm;

/// The experiment `storm`.
pub(super) static STORM: Experiment = Experiment {
    name: "storm",
    question: "How long do threads wait if all of them begin to allocate in the same instant?",
    modes: &[Mode::shot("start", "from the instant until the last thread has done its operations")],
    axes: &[
        Axis { default: &["parallel"], quick: &["parallel"], ..COLLECTOR },
        Axis::new("mutators", "threads that begin together", Kind::Count, &["100", "500", "2000"])
            .quick(&["100", "500"]),
        Axis::new("paced", "ms each sleeps between two operations; 0: none", Kind::Count, &["20", "0"]),
        Axis::new("operations", "operations of each, of 20k in small arrays", Kind::Count, &["200"])
            .quick(&["40"]),
        Axis::new("before", "operations of one thread alone, before them", Kind::Count, &["50000"])
            .quick(&["10000"]),
        Axis::new(
            "heap",
            "bytes of the heap; 0: 1g, beyond 500 mutators 4g, epsilon as it needs",
            Kind::Size,
            &["0"],
        ),
        Axis::new("tlab", "TLABSize in bytes; 0: the policy chooses", Kind::Size, &["0"]),
    ],
    // The number of measuring threads; the mutators are a parameter.
    threads: |_, _| vec![1],
    answers: verdict::answers,
    needs: "a row with the percentiles of first operations",
    verdicts: verdict::verdicts,
    latencies: &[
        Latency { label: figures::FIRST, what: "first operation of each thread" },
        Latency { label: figures::OPERATION, what: "operation" },
    ],
    check,
    shot_time: |case| StormPlan::of(case).ok()?.paced_time(),
    run,
    ..Experiment::NEW
};

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let plan = StormPlan::of(case)?;
    prepared::measure(bench, || Storm::prepare(&plan))
}

fn check(case: &Case) -> anyhow::Result<()> {
    check_shots(case, true, "each storm has a fresh heap, so only ss measures it")?;
    check_one_thread(case, "one measures; --mutators says how many begin together")?;
    StormPlan::of(case)?.fits()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    fn refused(selection: Selection) -> String {
        expand(&[&STORM], &Selection { quick: true, ..selection }, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("mutators", "0", "no thread begins"),
            ("mutators", "100000", "at most 4096"),
            ("operations", "0", "no operations"),
            ("operations", "18446744073709551615", "at most 1000000"),
            ("heap", "1m", "MaxHeapSize"),
            ("tlab", "17", "TLABSize"),
            ("heap", "16384t", "of memory"),
        ] {
            let values = vec![(name.to_string(), vec![value.to_string()])];
            let error = refused(Selection { values, ..Selection::default() });
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        let many = Selection { threads: vec![2], ..Selection::default() };
        assert!(refused(many).contains("--mutators"));
        let timed = Selection { jmh_modes: vec![JmhMode::AverageTime], ..Selection::default() };
        assert!(refused(timed).contains("only ss"));
    }
}
