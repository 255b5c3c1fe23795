//! The cost of a cache of weak references, and a check that the cache is correct.
//!
//! Looked-up values are held strongly for a while, in a window that rotates. The collector may free
//! all other values, and the next lookup makes a freed value again. So references are cleared all
//! the time: each collection clears those of the values that have left the window. The page
//! `docs/experiments/weak.md` says how to read the result.
//!
//! Every lookup is checked ([`witness`]). Collectors get weak references wrong in rare moments, and
//! a run that only measures would even be faster with such an error.
//!
//! Refused: a cache by identity (`IdMap`). Its entries keep their objects alive.

mod cache;
mod lookup;
mod witness;

use super::collectors::{self, COLLECTOR, full_heap};
use super::heap_use::HeapUse;
use super::memory::mebibytes;
use super::saying::{contrast, metric, ours, range_of, takes, whose};
use super::shots::{check_parts, check_shots};
use super::together::Together;
use crate::format::ScoreRow;
use crate::harness::{Axis, Bench, Case, Experiment, Kind, Mode, ObjectShape, TimeUnit};
use allotment::root;
use anyhow::{bail, ensure};
use cache::{ENTRY_BYTES, Fields, Roots, VALUE_BYTES, table};
use lookup::{LOOKUPS, Setting, scene};

/// The largest number of entries of a cache.
const MAX_ENTRIES: usize = 1 << 28;

/// The experiment `weak`.
pub(super) static WEAK: Experiment = Experiment {
    name: "weak",
    question: "What does a lookup cost in a cache whose entries are weak, and how many entries does a collector take?",
    modes: &[
        Mode::timed("field", "entries are objects with a WeakField, in an array of the heap"),
        Mode::timed("root", "entries are WeakRoots, in memory outside the heap"),
        Mode::shot("shot", "a number of lookups as in field: also for many more threads than CPUs"),
    ],
    axes: &[
        COLLECTOR,
        Axis::new("entries", "entries of each thread's cache", Kind::Count, &["100000", "10000"]),
        Axis::new("window", "values held strongly, in percent of the entries", Kind::Count, &["10", "50"]),
        Axis::new(
            "value",
            "bytes of a value beside its key, and of what a lookup leaves",
            Kind::Size,
            &["256"],
        ),
        Axis::new("heap", "bytes of the heap", Kind::Size, &["64m"]),
        Axis::new("lookups", "lookups of a shot, of all threads", Kind::Count, &["4000000"])
            .quick(&["500000"])
            .only_in(&["shot"]),
    ],
    unit: |_| TimeUnit::Nanoseconds,
    // A cache belongs to one thread, so more threads run only on request.
    threads: |_, _| vec![1],
    baseline: Some(("mode", "field")),
    answers,
    needs: "a row of mode field, root or shot",
    verdicts,
    check,
    objects: || vec![ObjectShape::of::<cache::Value>(None), ObjectShape::of::<cache::WeakEntry>(None)],
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let cost = ["field", "root", "shot"].into_iter().find_map(|mode| takes(&rows, mode, "collector"));
    let taken = range_of(&rows, "hits").map(|(least, most)| {
        let found = if least == most { format!("{most:.1}") } else { format!("{least:.1} to {most:.1}") };
        format!("; {found} % of all lookups found a value")
    });
    cost.map(|text| format!("A lookup in {text}{}.", taken.unwrap_or_default())).into_iter().collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let found = rows.iter().filter_map(|row| {
        let hits = metric(row, "hits")?.score();
        Some(format!("{}: {hits:.1} % of lookups found a value.", whose(row, &rows)))
    });
    contrast(&rows, "mode", "root", "field", "collector").into_iter().chain(found).collect()
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let entries = case.size("entries")?;
    let window = (entries * case.size("window")? / 100).max(1);
    let is_shot = case.mode == "shot";
    let lookups = if is_shot { case.count("lookups")? / case.threads as u64 } else { LOOKUPS };
    let setting = Setting { entries, window, bytes: case.size("value")?, lookups };
    let together = Together::new(case.threads, is_shot);
    let (heap, heap_use) = HeapUse::of(full_heap(case.text("collector")?, case.size("heap")?)?)?;
    let mut probe = heap_use.reporting_weak();
    bench.measure_attached(&heap, &mut probe, |thread, mutator, play| match case.mode.as_str() {
        "field" | "shot" => {
            root!(mutator, table = table(mutator, entries)?);
            scene(mutator, Fields(table), setting, thread, &together, play)
        }
        "root" => scene(mutator, Roots::new(entries), setting, thread, &together, play),
        other => bail!("there is no mode `{other}`"),
    })
}

fn check(case: &Case) -> anyhow::Result<()> {
    let shot = case.mode == "shot";
    let (entries, window) = (case.size("entries")?, case.size("window")?);
    check_shots(case, shot, "ss measures shots, and nothing else does")?;
    if shot {
        check_parts(case, "lookups")?;
    }
    ensure!((1..=MAX_ENTRIES).contains(&entries), "{entries} entries: 1 to {MAX_ENTRIES} work");
    ensure!((1..=100).contains(&window), "a window of {window} %: 1 to 100 work");
    ensure!(
        case.text("collector")? != "epsilon",
        "collector=epsilon never clears a weak reference, and a cache fills its heap"
    );
    let heap = case.size("heap")?;
    let held = VALUE_BYTES.saturating_add(case.size("value")?).saturating_mul(entries * window / 100);
    let needed = held.saturating_add(entries * ENTRY_BYTES).saturating_mul(case.threads);
    ensure!(
        needed <= heap - heap / 8,
        "a heap of {}: entries and what the window holds need a --heap of {}",
        mebibytes(heap),
        mebibytes(needed.saturating_add(needed / 4))
    );
    collectors::check(case.text("collector")?, heap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("entries", "0", "1 to 268435456 work"),
            ("window", "0", "1 to 100 work"),
            ("window", "101", "1 to 100 work"),
            ("value", "1m", "need a --heap of"),
            ("value", "16384t", "need a --heap of"),
            ("heap", "16384t", "of memory"),
            ("collector", "epsilon", "never clears"),
            ("lookups", "0", "every thread has one"),
        ] {
            let values = vec![(name.to_string(), vec![value.to_string()])];
            let modes = vec![if name == "lookups" { "shot" } else { "field" }.to_string()];
            let selection = Selection { values, modes, quick: true, ..Selection::default() };
            let error = expand(&[&WEAK], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        for (mode, jmh_mode) in [("field", JmhMode::SingleShot), ("shot", JmhMode::AverageTime)] {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, quick: true, ..Selection::default() };
            let error = expand(&[&WEAK], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures shots"), "{error}");
        }
    }
}
