//! Extremem: a shop with hundreds of customer threads, each with a schedule, over a large and old
//! graph of small objects. It is the workload of JDK-8359947 ("use smaller TLABs by default").
//!
//! The data lies in the heap, through the safe API, with an object for each object of the Java
//! program: strings of two, boxed numbers, nodes of trees and tables, queues, logs. Each customer
//! and each server is a thread of the system with a mutator of its own. The page
//! `docs/experiments/extremem.md` says what was simplified.
//!
//! Refused: tasks on a few threads. The buffers of hundreds of threads that sleep most of the time
//! are the subject.

mod configuration;
mod customers;
mod figures;
mod goods;
#[cfg(test)]
mod java_tests;
mod latency;
mod locks;
mod plan;
mod queue;
mod run;
mod sales;
mod schedule;
mod search;
mod server;
mod shop;
mod table;
mod text;
mod tree;
mod update;
mod verdict;
mod visit;
mod words;
mod workload;

use super::collectors::COLLECTOR;
use super::prepared;
use super::shots::{check_one_thread, check_shots};
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Latency, Mode, ObjectShape};
use crate::machine::topology;
use plan::{AS_CONFIGURED, OWN_POLICY, ShopPlan};
use run::Run;
use std::time::Duration;

/// The experiment `extremem`.
pub(super) static EXTREMEM: Experiment = Experiment {
    name: "extremem",
    question: "How late are the threads of a shop against their schedule, with small buffers and with large ones?",
    modes: &[Mode::shot("shop", "from the opening of the shop until its last thread has done its work")],
    axes: &[
        Axis::new("config", "the configuration", Kind::Choice(configuration::NAMES), &["loaded"])
            .quick(&["quick"]),
        Axis {
            default: &["genshen", "parallel"],
            quick: &["genshen"],
            full: &["genshen", "parallel"],
            ..COLLECTOR
        },
        Axis::new(
            "policy",
            "TLABPolicy of the heap; own: as the heap has it, shenandoah: before JDK-8359947",
            Kind::Choice(&[OWN_POLICY, "shenandoah", "shenandoah-8359947", "hotspot", "adaptive"]),
            &[OWN_POLICY],
        ),
        Axis::new("heap", "bytes of the heap; 0: as the configuration says", Kind::Size, &["0"]),
        Axis::new(
            "workload",
            "Extremem's options, Name=value, separated by spaces; `as-configured`: none",
            Kind::Text,
            &[AS_CONFIGURED],
        ),
    ],
    // The number of measuring threads; those of the shop are options.
    threads: |_, _| vec![1],
    latencies: &[Latency { label: figures::PREPARATION, what: "lateness of the preparation" }],
    check,
    shot_time: |case| Some(ShopPlan::of(case).ok()?.configuration.workload.duration()),
    silence: |case| ShopPlan::of(case).map_or(Duration::ZERO, |plan| plan.configuration.silence()),
    on_jvm: |case| ShopPlan::of(case).map_or(Ok(None), |plan| plan.on_jvm(case)),
    answers: verdict::answers,
    needs: "a row with the percentiles of the preparation",
    verdicts: verdict::verdicts,
    objects,
    run,
    ..Experiment::NEW
};

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let plan = ShopPlan::of(case)?;
    prepared::measure(bench, || Run::prepare(&plan, plan.builder()?))
}

fn check(case: &Case) -> anyhow::Result<()> {
    check_shots(case, true, "each run has a fresh heap, so only ss measures it")?;
    check_one_thread(case, "one measures; the options CustomerThreads and ServerThreads are the shop's")?;
    ShopPlan::of(case)?.check(topology().available_parallelism())
}

fn objects() -> Vec<ObjectShape> {
    vec![
        ObjectShape::of::<goods::Product>(Some("extremem.Product")),
        ObjectShape::of::<goods::Id>(None),
        ObjectShape::of::<customers::Customer>(Some("extremem.Customer")),
        ObjectShape::of::<sales::Sale>(Some("extremem.Sale")),
        ObjectShape::of::<sales::Saved>(Some("extremem.Saved")),
        ObjectShape::of::<sales::Time>(Some("extremem.Saved$Time")),
        ObjectShape::of::<text::Text>(None),
        ObjectShape::of::<goods::Goods>(None),
        ObjectShape::of::<customers::Customers>(None),
        ObjectShape::of::<shop::Shop>(None),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    fn refused(selection: Selection) -> String {
        expand(&[&EXTREMEM], &Selection { quick: true, ..selection }, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("config", "large", "not one of small, medium, huge"),
            ("workload", "NumCustomers", "write Name=value"),
            ("workload", "CustomerThreads=5000", "at most 4096"),
            ("workload", "FastAndFurious=true", "PhasedUpdates"),
            ("heap", "1m", "MaxHeapSize"),
            ("policy", "none", "not one of own"),
        ] {
            let values = vec![(name.to_string(), vec![value.to_string()])];
            let error = refused(Selection { values, ..Selection::default() });
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        let many = Selection { threads: vec![2], ..Selection::default() };
        assert!(refused(many).contains("CustomerThreads"));
        let timed = Selection { jmh_modes: vec![JmhMode::AverageTime], ..Selection::default() };
        assert!(refused(timed).contains("only ss"));
    }

    #[test]
    fn a_configuration_that_the_machine_cannot_hold_is_refused() {
        let values =
            vec![("config".to_string(), vec!["huge".to_string()]), ("heap".into(), vec!["64t".into()])];
        let selection = Selection { values, quick: true, ..Selection::default() };
        let refused = refused(selection);
        for part in ["configuration huge", "2000 customer threads", "of memory, and there "] {
            assert!(refused.contains(part), "{refused}");
        }
    }
}
