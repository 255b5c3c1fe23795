//! The cost of the safe API: each operation beside the same operation without the API.
//!
//! Every mode is measured in two ways. `safe` is the code that an embedder writes. `raw` is the
//! low-level API where it can do the same, otherwise the least code by hand that serves the
//! purpose. The last column compares with `raw`, so one glance finds the values that differ. The
//! page `docs/experiments/api.md` describes `raw` in each mode, and how to read the result.
//!
//! The two ways are an axis, not modes: an experiment has one baseline, and each mode here needs
//! its own.

mod allocation;
mod attach;
mod attached;
mod calls;
mod collect;
mod limits;
mod node;
mod roots;
mod slots;
mod stop;
mod tree;
mod verdict;

use super::collectors::{COLLECTOR, WORKERS};
use super::saying::ours;
use super::shots::{check_one_thread, check_shots};
use crate::harness::{Axis, Bench, Case, Charts, Experiment, Kind, Mode, ObjectShape, TimeUnit};
use anyhow::bail;

/// Modes whose scene is set up by a single thread.
const ALONE: &[&str] = &["stop", "collect"];

/// The way in which a case performs its mode's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Safe,
    Raw,
}

impl Way {
    fn of(case: &Case) -> anyhow::Result<Way> {
        Ok(if case.text("way")? == "safe" { Way::Safe } else { Way::Raw })
    }
}

/// The experiment `api`.
pub(super) static API: Experiment = Experiment {
    name: "api",
    question: "What does the safe API cost over raw pointers, and how long does the world stand still?",
    modes: &[
        Mode::timed("attach", "attach to a heap and detach"),
        Mode::timed("attach-thread", "the same by Heap::attach_thread, without a body"),
        Mode::timed("attach-c", "the same by al_attach and al_detach of the C API"),
        Mode::timed("poll", "Mutator::safepoint with nothing pending"),
        Mode::timed("blocking", "enter a blocking region and leave it"),
        Mode::timed("root", "root!: link a root and unlink it"),
        Mode::timed("handle", "Root: make a root that lives anywhere and drop it"),
        Mode::timed("alloc", "alloc! of 32 bytes, collections included; nothing survives"),
        Mode::timed("load", "Field::load, a slot of an array"),
        Mode::timed("store", "Field::store, a slot of an array"),
        Mode::timed("list", "from a node of a list to the next"),
        Mode::shot("stop", "stop threads that allocate, and let them go on"),
        Mode::shot("collect", "a collection of all of a heap with a binary tree, for each live object"),
    ],
    axes: &[
        Axis::new("heap", "bytes of the heap", Kind::Size, &["4m", "64m", "1g"]).only_in(&["alloc"]),
        Axis::new("length", "slots of the array, nodes of the list", Kind::Count, &["1024", "1048576"])
            .only_in(&["load", "store", "list"]),
        Axis::new("mutators", "threads that are stopped", Kind::Count, &["1", "2", "8", "64", "500"])
            .quick(&["1", "500"])
            .only_in(&["stop"]),
        Axis::new("live", "bytes of live objects", Kind::Size, &["4m", "64m", "512m"]).only_in(&["collect"]),
        Axis::new(
            "order",
            "how the tree lies in memory",
            Kind::Choice(&["sequential", "shuffled"]),
            &["sequential", "shuffled"],
        )
        .quick(&["sequential", "shuffled"])
        .only_in(&["collect"]),
        Axis::new("garbage", "dead objects beside each live one", Kind::Count, &["1"]).only_in(&["collect"]),
        WORKERS.only_in(&["collect"]),
        Axis { default: &["mark-compact"], quick: &["mark-compact"], ..COLLECTOR },
        Axis::new("way", "with the safe API or without", Kind::Choice(&["safe", "raw"]), &["safe", "raw"])
            .quick(&["safe", "raw"]),
    ],
    // The modes measure one thread's own calls, so more threads run only on request.
    threads: |_, _| vec![1],
    // Shots are counted per object, or per stop.
    unit: |_| TimeUnit::Nanoseconds,
    baseline: Some(("way", "raw")),
    answers: |rows| verdict::answers(&ours(rows)),
    needs: "rows with --way safe,raw, or of the modes stop and collect",
    verdicts: |rows| verdict::verdicts(&ours(rows)),
    charts: Charts { along: None, by_mode: true },
    check,
    objects: || vec![ObjectShape::of::<node::Node>(None)],
    run,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    if ALONE.contains(&case.mode.as_str()) {
        let mode = &case.mode;
        check_shots(case, true, &format!("only ss measures {mode}, which needs a new scene for each shot"))?;
        check_one_thread(case, &format!("{mode} is measured on one thread"))?;
    }
    limits::check(case)
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let way = Way::of(case)?;
    match case.mode.as_str() {
        "attach" | "attach-thread" | "attach-c" => attach::run(way, case, bench),
        "poll" => calls::poll(way, case, bench),
        "blocking" => calls::blocking(way, case, bench),
        "root" => roots::linked(way, case, bench),
        "handle" => roots::handle(way, case, bench),
        "alloc" => allocation::run(way, case, bench),
        "load" | "store" | "list" => slots::run(way, case, bench),
        "stop" => stop::run(way, case, bench),
        "collect" => collect::run(way, case, bench),
        other => bail!("there is no mode `{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    fn refused(selection: Selection) -> String {
        expand(&[&API], &Selection { quick: true, ..selection }, 2).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (mode, name, value, reason) in [
            ("alloc", "heap", "1m", "from 2560k"),
            ("alloc", "heap", "16384t", "of memory"),
            ("list", "length", "0", "an empty array or list"),
            ("load", "length", "18446744073709551615", "of memory"),
            ("stop", "mutators", "0", "no thread to stop"),
            ("stop", "mutators", "100000", "at most 4096"),
            ("collect", "live", "31", "a node has 32 bytes"),
            ("collect", "live", "1g", "dead objects beside each live one"),
            ("collect", "live", "16384t", "of memory"),
            ("collect", "workers", "1025", "ParallelGCThreads"),
            ("collect", "collector", "epsilon", "epsilon collects nothing"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            if reason.starts_with("dead") {
                values.push(("garbage".into(), vec!["1000".into()]));
            }
            let error = refused(Selection { modes: vec![mode.into()], values, ..Selection::default() });
            assert!(error.contains(reason), "{mode} {name}={value}: {error}");
        }
    }

    #[test]
    fn shots_are_one_threads_and_nothing_but_shots() {
        for mode in ALONE {
            let modes = vec![mode.to_string()];
            let many = Selection { modes: modes.clone(), threads: vec![2], ..Selection::default() };
            assert!(refused(many).contains("measured on one thread"));
            let timed = Selection { modes, jmh_modes: vec![JmhMode::AverageTime], ..Selection::default() };
            assert!(refused(timed).contains("only ss"));
        }
    }

    /// Every row except the baselines has a ratio.
    #[test]
    fn each_mode_is_measured_in_both_ways() {
        let selection = Selection { quick: true, ..Selection::default() };
        let cases = expand(&[&API], &selection, 2).unwrap().0;
        for case in &cases {
            let other = |way: &str| {
                let mut twin = case.clone();
                let given = twin.params.iter_mut().find(|(name, _)| name == "way").unwrap();
                given.1 = way.into();
                twin
            };
            assert!(cases.contains(&other("safe")) && cases.contains(&other("raw")), "{case:?}");
        }
    }
}
