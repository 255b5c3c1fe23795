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

use super::collectors::{self, COLLECTOR, heap_of};
use super::heap_use::HeapUse;
use super::saying::{contrast, ours, takes, whose};
use super::together::{Member, Together};
use crate::format::phrase::range;
use crate::format::{Comparison, Metric, ScoreRow};
use crate::harness::{
    Axis, Baseline, Bench, Case, Experiment, Iteration, JmhMode, Kind, Mode, ObjectShape, ParameterError,
    Probe, SecondaryValue, TimeUnit,
};
use allotment::root;
use anyhow::bail;
use cache::{ENTRY_BYTES, Fields, Roots, VALUE_BYTES, table};
use lookup::{LOOKUPS, Setting, scene};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The experiment `weak`.
#[derive(Clone, Copy, Debug)]
pub struct Weak;

/// The largest number of entries of a cache.
const MAX_ENTRIES: usize = 1 << 28;

impl Experiment for Weak {
    fn name(&self) -> &'static str {
        "weak"
    }

    fn question(&self) -> &'static str {
        "What does a lookup cost in a cache whose entries are weak, and how many entries does a collector take?"
    }

    fn modes(&self) -> &'static [Mode] {
        const fn mode(name: &'static str, what: &'static str) -> Mode {
            Mode { name, what, jmh_modes: &[JmhMode::AverageTime] }
        }
        const MODES: &[Mode] = &[
            mode("field", "entries are objects with a WeakField, in an array of the heap"),
            mode("root", "entries are WeakRoots, in memory outside the heap"),
            Mode {
                name: "shot",
                what: "a number of lookups as in field: also for many more threads than CPUs",
                jmh_modes: &[JmhMode::SingleShot],
            },
        ];
        MODES
    }

    fn axes(&self) -> &'static [Axis] {
        const AXES: &[Axis] = &[
            COLLECTOR,
            Axis::new("entries", "entries of each thread's cache", Kind::Count, &["100000", "10000"]),
            Axis::new(
                "window",
                "values held strongly, in percent of the entries",
                Kind::Count,
                &["10", "50"],
            ),
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
        ];
        AXES
    }

    fn unit(&self, _mode: JmhMode) -> TimeUnit {
        TimeUnit::Nanoseconds
    }

    /// A cache belongs to one thread, so more threads run only on request.
    fn threads(&self, _cpus: usize, _quick: bool) -> Vec<usize> {
        vec![1]
    }

    fn baseline(&self) -> Option<Baseline> {
        Some(Baseline::mode("field"))
    }

    fn answers(&self, rows: &[ScoreRow]) -> Vec<String> {
        let rows = ours(rows);
        let cost = ["field", "root", "shot"].into_iter().find_map(|mode| takes(&rows, mode, "collector"));
        let hits = rows.iter().flat_map(|row| &row.secondary).filter(|metric| metric.label == "hits");
        let (least, most) = range(hits.map(Metric::score));
        let found = if least == most { format!("{most:.1}") } else { format!("{least:.1} to {most:.1}") };
        let taken = most.is_finite().then(|| format!("; {found} % of all lookups found a value"));
        cost.map(|text| format!("A lookup in {text}{}.", taken.unwrap_or_default())).into_iter().collect()
    }

    fn needs(&self) -> &'static str {
        "a row of mode field, root or shot"
    }

    fn verdicts(&self, rows: &[ScoreRow], _comparison: &Comparison) -> Vec<String> {
        let rows = ours(rows);
        let found = rows.iter().filter_map(|row| {
            let hits = row.secondary.iter().find(|metric| metric.label == "hits")?;
            Some(format!("{}: {:.1} % of lookups found a value.", whose(row, &rows), hits.score()))
        });
        contrast(&rows, "mode", "root", "field", "collector").into_iter().chain(found).collect()
    }

    fn nonsense(&self, case: &Case) -> Option<String> {
        // A missing parameter is reported when the case runs.
        refusal(case).unwrap_or(None)
    }

    fn objects(&self) -> Vec<ObjectShape> {
        vec![ObjectShape::of::<cache::Value>(None), ObjectShape::of::<cache::Entry>(None)]
    }

    fn run(&self, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        let entries = case.size("entries")?;
        let window = (entries * case.size("window")? / 100).max(1);
        let is_shot = case.mode == "shot";
        let lookups = if is_shot { case.count("lookups")? / case.threads as u64 } else { LOOKUPS };
        let setting = Setting { entries, window, bytes: case.size("value")?, lookups };
        let together = Together::new(case.threads);
        let cleared = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&cleared);
        // The initial size is the whole heap; otherwise a heap that is larger than needed would not
        // be used.
        let bytes = case.size("heap")?;
        let builder = heap_of(case.text("collector")?, bytes)?.initial_heap_size(bytes);
        let (heap, heap_use) = HeapUse::listening(builder, move |record| {
            counter.fetch_add(record.weak_cleared as u64, Ordering::Relaxed);
        })?;
        let mut probe = Cleared { heap_use, cleared };
        bench.measure_within_with(&mut probe, |thread, play| {
            let shot = is_shot.then(|| Member(&together));
            heap.attach(|mutator| match case.mode.as_str() {
                "field" | "shot" => {
                    root!(mutator, table = table(mutator, entries)?);
                    scene(mutator, Fields(table), setting, thread, shot, play)
                }
                "root" => scene(mutator, Roots::new(entries), setting, thread, shot, play),
                other => bail!("there is no mode `{other}`"),
            })?
        })
    }
}

fn refusal(case: &Case) -> Result<Option<String>, ParameterError> {
    let (entries, window) = (case.size("entries")?, case.size("window")?);
    if (case.mode == "shot") != (case.jmh_mode == JmhMode::SingleShot) {
        return Ok(Some(format!("{}: ss measures shots, and nothing else does", case.jmh_mode)));
    }
    if case.mode == "shot" && case.count("lookups")? < case.threads as u64 {
        return Ok(Some(format!("{} lookups: every thread has one at least", case.count("lookups")?)));
    }
    if !(1..=MAX_ENTRIES).contains(&entries) {
        return Ok(Some(format!("{entries} entries: 1 to {MAX_ENTRIES} work")));
    }
    if !(1..=100).contains(&window) {
        return Ok(Some(format!("a window of {window} %: 1 to 100 work")));
    }
    if case.text("collector")? == "epsilon" {
        return Ok(Some(
            "collector=epsilon never clears a weak reference, and a cache fills its heap".into(),
        ));
    }
    let heap = case.size("heap")?;
    let held = VALUE_BYTES.saturating_add(case.size("value")?).saturating_mul(entries * window / 100);
    let needed = held.saturating_add(entries * ENTRY_BYTES).saturating_mul(case.threads);
    let mib = |bytes: usize| format!("{}m", bytes.div_ceil(1 << 20));
    if needed > heap - heap / 8 {
        let needed = needed.saturating_add(needed / 4);
        return Ok(Some(format!(
            "a heap of {}: entries and what the window holds need a --heap of {}",
            mib(heap),
            mib(needed)
        )));
    }
    Ok(collectors::refusal(case.text("collector")?, heap))
}

/// The heap's figures, and the number of references that the collector cleared.
struct Cleared {
    heap_use: HeapUse,
    cleared: Arc<AtomicU64>,
}

impl Probe for Cleared {
    fn before(&mut self) {
        self.cleared.store(0, Ordering::Relaxed);
        self.heap_use.before();
    }

    fn after(&mut self, iteration: &Iteration) -> Vec<SecondaryValue> {
        let cleared = self.cleared.load(Ordering::Relaxed) as f64;
        let mut values = vec![SecondaryValue::average("cleared", "counts", cleared)];
        values.extend(self.heap_use.after(iteration));
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

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
            let error = expand(&[&Weak], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        for (mode, jmh_mode) in [("field", JmhMode::SingleShot), ("shot", JmhMode::AverageTime)] {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, quick: true, ..Selection::default() };
            let error = expand(&[&Weak], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures shots"), "{error}");
        }
    }
}
