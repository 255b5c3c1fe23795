//! Two questions. Does a thread's speed collapse when the threads' working sets together exceed the
//! last cache? Does the gain of more threads fall into a valley there and recover beyond it?
//!
//! The experiment follows "The 'Uncanny Valley' of L3 Cache Contention" (Michael Barker, 2014) and
//! the discussion below it. The article's program is the mode `gather`, whose loads are independent
//! of each other. The first commenter's objection, dependent loads, is `chase`; his sliding window
//! is `window`. Elements are counted instead of passes, so that sizes compare. A block of elements
//! writes its results to one sink, so that small sets do not all measure the sink. The page
//! `docs/experiments/cache.md` says how to read the result.
//!
//! The memory is mapped for the purpose, and is not a heap's: see [`crate::walk`].

mod chase;
mod curve;
mod expected;
mod gather;
mod speed_up;
mod verdict;

use super::{memory::mebibytes, on_jvm};
use crate::format::phrase::count;
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Mode, ParameterError, SecondaryValue, Thread};
use crate::machine::free_memory;
use crate::walk::{Mapping, Pages};
use anyhow::{bail, ensure};

/// The offset between the beginnings of two threads' memory within a page, so that the threads do
/// not use the same sets of a cache.
const SKEW: usize = 3 * 64;

/// The largest set: an index of a gather has 32 bits.
const MAX_SET: usize = 16 << 30;

/// Smaller totals are not checked against the available memory, since every machine has as much.
const SMALL_TOTAL: usize = 1 << 30;

/// The axis `set`. In a quick run only `gather` has a curve.
const SET: Axis = Axis::new(
    "set",
    "bytes that are walked; l1, l2, l3 and half- or twice- of them too",
    Kind::Eden,
    &["16", "1k", "16k", "64k", "256k", "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m", "128m"],
)
.full(&[
    "16", "32", "64", "128", "256", "512", "1k", "2k", "4k", "8k", "16k", "32k", "64k", "128k", "256k",
    "512k", "1m", "2m", "4m", "8m", "16m", "32m", "64m", "128m",
]);

/// The experiment `cache`.
pub(super) static CACHE: Experiment = Experiment {
    name: "cache",
    question: "Does a thread slow down when the threads' working sets together pass the last cache, and is there a valley?",
    modes: &[
        Mode::timed("gather", "reads of an array in the order of another: independent loads"),
        Mode::timed("chase", "hops around one cycle of all lines: each load waits for the one before"),
        Mode::timed(
            "window",
            "the same within a window that slides over the memory: misses caches, not the TLB",
        ),
    ],
    axes: &[
        Axis::new(
            "order",
            "order of the reads",
            Kind::Choice(&["shuffled", "sequential"]),
            &["shuffled", "sequential"],
        )
        .quick(&["shuffled"])
        .only_in(&["gather", "chase"]),
        Axis::new("window", "bytes of the window", Kind::Size, &["128k"]).only_in(&["window"]),
        Axis::new("stride", "bytes between two slots", Kind::Size, &["64"])
            .full(&["64", "128"])
            .only_in(&["chase", "window"]),
        Axis::new("pages", "pages of the memory", Kind::Choice(&["base", "huge"]), &["base"])
            .full(&["base", "huge"]),
        Axis::new(
            "share",
            "whether set is of each thread or of all together",
            Kind::Choice(&["per-thread", "total"]),
            &["per-thread"],
        )
        .full(&["per-thread", "total"]),
        SET.quick(&["half-l2", "twice-l2", "half-l3", "l3", "twice-l3"]).only_in(&["gather"]),
        SET.quick(&["half-l2", "twice-l3"]).only_in(&["chase", "window"]),
    ],
    threads: |cpus, quick| match (quick, cpus) {
        (false, _) => (1..=5).collect(),
        (true, 1) => vec![1],
        (true, _) => vec![1, cpus],
    },
    baseline: Some(("threads", "1")),
    answers: |rows| verdict::answers(rows, &expected::Machine::detect()),
    needs: "rows of a mode with two sizes of --set",
    verdicts: |rows| verdict::verdicts(rows, &expected::Machine::detect()),
    check,
    on_jvm: |case| on_jvm::cache(case, set_of_each(case)?),
    run,
    ..Experiment::NEW
};

fn check(case: &Case) -> anyhow::Result<()> {
    let set = set_of_each(case)?;
    ensure!(set <= MAX_SET, "sets of more than 16g");
    if case.mode == "gather" {
        ensure!(set >= 16, "a set of less than 16 bytes for each thread holds no two elements");
    } else {
        let stride = case.size("stride")?;
        ensure!(stride >= 8 && stride % 8 == 0, "slots {stride} bytes apart: an address has 8");
        ensure!(set / stride >= 2, "a set of less than two slots for each thread is not a cycle");
    }
    let total = set.saturating_mul(case.threads);
    let (has, small) = (free_memory(), total <= SMALL_TOTAL);
    ensure!(
        small || total <= has,
        "{} with {set} bytes each to walk need {} of memory, and {} are free; a smaller --set or fewer \
         --threads fit",
        count(case.threads, "thread"),
        mebibytes(total),
        mebibytes(has)
    );
    Ok(())
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match case.mode.as_str() {
        "gather" => gather::run(case, bench),
        "chase" | "window" => chase::run(case, bench),
        other => bail!("there is no mode `{other}`"),
    }
}

/// Bytes that each thread walks.
fn set_of_each(case: &Case) -> Result<usize, ParameterError> {
    let set = case.size("set")?;
    Ok(match case.text("share")? {
        "total" => set / case.threads,
        _ => set,
    })
}

/// A thread's memory, not yet touched.
fn memory(case: &Case, thread: &Thread) -> anyhow::Result<Mapping> {
    let pages = if case.text("pages")? == "huge" { Pages::Huge } else { Pages::Base };
    // The offset stays within a page; otherwise the memory would grow with the number of the
    // thread.
    Mapping::new(set_of_each(case)?, thread.index * SKEW % 4096, pages)
}

/// The facts of a thread whose memory has been touched, beside its score. None of them is measured,
/// except the pages that the system gave. `expected` is the share of its reads that the last cache
/// is expected to answer. An unmeasured value has no error and no spread, so it is reported as a
/// maximum.
fn facts(case: &Case, memory: &Mapping, expected: Option<f64>) -> anyhow::Result<Vec<SecondaryValue>> {
    let mut values = vec![SecondaryValue::maximum("set.total", "B", (memory.bytes() * case.threads) as f64)];
    values.extend(expected.map(|share| SecondaryValue::maximum("hits.expected", "%", share * 100.0)));
    if case.text("pages")? == "huge" {
        values.push(SecondaryValue::average("pages.huge", "%", memory.huge_share()? * 100.0));
    }
    Ok(values)
}
