//! A store of market data, alone and in an application whose other threads are busy.
//!
//! Michael Barker looked for a data store for ticks, measured one by itself, found it fast enough,
//! and it was not where it was used ("The 'Uncanny Valley' of L3 Cache Contention", 2014). The
//! store here is `examples/ticks`, a B+tree in the heap. With `--neighbours` each case is measured
//! alone and beside threads that walk memory. The page `docs/experiments/store.md` compares both
//! with the article.
//!
//! The standard library's B-tree map stands beside it as a value of the axis `collector`: what
//! holds the ticks is either a heap with a collector or that map, and only one of them has options.
//!
//! Refused: a data base in files, as the article's was. Its rates are those of a system call, a
//! log and a disk, and there is no heap to measure.

mod access;
mod load;
mod worker;

use super::collectors::{self, full_heap};
use super::heap_use::HeapUse;
use super::memory::{self, advised};
use super::saying::{all_against, metric, ours, spread, takes, values};
use crate::format::coordinates::{MODE, mode};
use crate::format::{Metric, ScoreRow, phrase};
use crate::harness::{Axis, Bench, Case, Charts, Experiment, JmhMode, Kind, Mode, ParameterError, TimeUnit};
use access::{InHeap, InMap, Map};
use allotment::{Heap, Root, root};
use allotment_ticks::{MIN_BLOCK_BYTES, Store as Ticks, TICK_BYTES};
use anyhow::{Context, ensure};
use load::TickLoad;
use std::collections::BTreeMap;
use std::sync::RwLock;
use worker::{FITS, Work, Working};

/// The word of the axis `collector` for the standard library's map.
const MAP: &str = "btreemap";

/// The most ticks: their times are below 2^63 ns.
const MAX_TICKS: u64 = 1 << 32;

/// The largest block.
const MAX_BLOCK_BYTES: usize = 1 << 20;

/// The largest part of a heap that ticks may take, in percent: blocks that are half full, and
/// garbage, need the rest.
const MAX_PERCENT: usize = 40;

/// The experiment `store`.
pub(super) static STORE: Experiment = Experiment {
    name: "store",
    question: "How many operations a second does a store of market data make, alone and beside busy threads?",
    modes: &[
        Mode::rate("put", "put ticks that are newer than all others, and remove what is too old"),
        Mode::rate("put-random", "put ticks anywhere, and remove a stretch anywhere"),
        Mode::rate("get", "find what was known of an instrument at a time"),
        Mode::rate("scan", "sum up the prices of a stretch of an instrument"),
        Mode::rate("mixed", "of a hundred operations 50 as in put, 49 as in get, and a scan"),
    ],
    axes: &[
        Axis::new(
            "collector",
            "option Collector of the heap; btreemap: no heap, the map of Rust's library",
            Kind::Choice(&["parallel", "mark-compact", "shenandoah", "genshen", "epsilon", MAP]),
            &["parallel", "mark-compact", MAP],
        )
        .quick(&["parallel"])
        .full(&["parallel", "mark-compact", "shenandoah", "genshen", MAP]),
        Axis::new("ticks", "ticks of the store, 32 bytes each", Kind::Count, &["1000000"])
            .quick(&["100000"])
            .full(&["10000", "100000", "1000000", "4000000"]),
        Axis::new("instruments", "instruments that they belong to", Kind::Count, &["100"])
            .full(&["1", "100", "1000"]),
        Axis::new("block", "bytes of a block, without its header", Kind::Size, &["4k"])
            .full(&["512", "4k", "32k"]),
        Axis::new("range", "ticks of a scan", Kind::Count, &["500"]).only_in(&["scan", "mixed"]),
        Axis::new("heap", "bytes of the heap", Kind::Size, &["512m"]),
    ],
    slow: &["put", "put-random", "get", "scan"],
    // Thousands of operations a second, as the article counts.
    unit: |mode| match mode {
        JmhMode::Throughput => TimeUnit::Milliseconds,
        _ => TimeUnit::Nanoseconds,
    },
    // A store has one lock, so more threads run only on request.
    threads: |_, _| vec![1],
    baseline: Some(("collector", MAP)),
    answers,
    needs: "a row of any mode",
    verdicts: |rows| all_against(&ours(rows), "collector", MAP, "ticks"),
    charts: Charts { along: Some("ticks"), by_mode: true },
    check,
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let modes = values(&rows, MODE);
    let rates = modes.iter().filter_map(|(mode, _)| takes(&rows, mode, "collector"));
    let mut said: Vec<String> = rates.map(|text| text + ".").collect();
    said.extend(modes.iter().filter_map(|(mode, _)| spread(&rows, mode, "collector", MAP)));
    said.extend(never_filled(&rows));
    said
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let work = Work::named(&case.mode).with_context(|| format!("there is no mode `{}`", case.mode))?;
    let load = load(case)?;
    match case.text("collector")? {
        MAP => in_map(load, work, bench),
        collector => {
            let (heap, mut probe) = HeapUse::of(full_heap(collector, case.size("heap")?)?)?;
            in_heap(&heap, &mut probe, case.size("block")?, load, work, bench)
        }
    }
}

/// The note that ticks were put into a heap and its rows had no collection: such rows tell nothing
/// about collectors.
fn never_filled(rows: &[ScoreRow]) -> Option<String> {
    let count = |row: &ScoreRow| {
        let of = |label: &str| metric(row, label).map(Metric::score);
        let counts: Vec<f64> = ["gc.young", "gc.full", "gc.concurrent"].into_iter().filter_map(of).collect();
        (!counts.is_empty()).then(|| counts.iter().sum::<f64>())
    };
    let putting = rows.iter().filter(|row| Work::named(mode(row)).is_some_and(Work::puts));
    let idle: Vec<&ScoreRow> = putting.filter(|row| count(row) == Some(0.0)).collect();
    let mut modes: Vec<&str> = idle.iter().map(|row| mode(row)).collect();
    modes.dedup();
    let modes = modes.join(", ");
    (!idle.is_empty()).then(|| {
        format!(
            "The load of {modes} never fills the heap in {}: no collection came.",
            phrase::count(idle.len(), "row")
        )
    })
}

/// The sizes of a case. Modes without scans have none.
fn load(case: &Case) -> Result<TickLoad, ParameterError> {
    let scans = Work::named(&case.mode).is_some_and(Work::scans);
    Ok(TickLoad {
        ticks: case.count("ticks")?,
        instruments: case.count("instruments")?,
        range: if scans { case.count("range")? } else { 1 },
    })
}

/// Measures the store.
fn in_heap(
    heap: &Heap,
    probe: &mut HeapUse,
    block: usize,
    load: TickLoad,
    work: Work,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    let (store, clock) = heap.attach(|mutator| {
        root!(mutator, store = advised(Ticks::make(mutator, block), FITS)?);
        let clock = load.fill(work != Work::Scatter, |tick| {
            advised(Ticks::put(mutator, store, tick), FITS)?;
            Ok(())
        })?;
        anyhow::Ok((Root::new(mutator, store.get(mutator)), clock))
    })??;
    let lock = RwLock::new(clock);
    bench.measure_attached(heap, probe, |thread, mutator, play| {
        root!(mutator, store = store.get(mutator));
        let access = InHeap { mutator, store, lock: &lock };
        play.play(Working::new(access, load, work, thread.index))
    })
}

/// Measures the map.
fn in_map(load: TickLoad, work: Work, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let mut map = BTreeMap::new();
    let clock = load.fill(work != Work::Scatter, |tick| {
        map.insert(tick.key, tick.quote);
        Ok(())
    })?;
    let map: Map = RwLock::new((clock, map));
    bench.measure(|thread| Ok(Working::new(InMap(&map), load, work, thread.index)))
}

fn check(case: &Case) -> anyhow::Result<()> {
    let load = load(case)?;
    let (block, heap, collector) = (case.size("block")?, case.size("heap")?, case.text("collector")?);
    let TickLoad { ticks, instruments, range } = load;
    ensure!((1..=MAX_TICKS).contains(&ticks), "{ticks} ticks: 1 to {MAX_TICKS} work");
    ensure!((1..=ticks).contains(&instruments), "{instruments} instruments: 1 to {ticks} work, a tick each");
    let most = ticks / instruments;
    ensure!((1..=most).contains(&range), "a range of {range} ticks: an instrument has {most} in all");
    ensure!(
        (MIN_BLOCK_BYTES..=MAX_BLOCK_BYTES).contains(&block),
        "a block of {block} bytes: {MIN_BLOCK_BYTES} to 1m work"
    );
    let bytes = (ticks as usize).saturating_mul(TICK_BYTES);
    if collector == MAP {
        return memory::fits("twice the ticks", bytes.saturating_mul(2), "fewer --ticks");
    }
    let puts = Work::named(&case.mode).is_some_and(Work::puts);
    ensure!(
        collector != "epsilon" || !puts,
        "collector=epsilon frees no removed block, and puts fill its heap"
    );
    let needed = (bytes / MAX_PERCENT).saturating_mul(100);
    ensure!(
        needed <= heap,
        "a heap of {}m: {ticks} ticks need a --heap of {}",
        heap >> 20,
        memory::mebibytes(needed)
    );
    collectors::check(collector, heap)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("ticks", "0", "1 to 4294967296 work"),
            ("ticks", "4294967296", "need a --heap of"),
            ("instruments", "0", "a tick each"),
            ("instruments", "100001", "a tick each"),
            ("range", "0", "an instrument has 1000 in all"),
            ("range", "1001", "an instrument has 1000 in all"),
            ("block", "71", "72 to 1m work"),
            ("block", "2m", "72 to 1m work"),
            ("heap", "7m", "need a --heap of 8m"),
            ("heap", "16384t", "of memory"),
            ("collector", "epsilon", "frees no removed block"),
            ("collector", "btreemaps", "did you mean `btreemap`?"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            if name != "collector" {
                values.push(("collector".into(), vec!["parallel".into()]));
            }
            let modes = vec!["mixed".to_string()];
            let selection = Selection { values, modes, quick: true, ..Selection::default() };
            let error = expand(&[&STORE], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
    }

    #[test]
    fn a_store_that_is_only_read_needs_no_collector() {
        for mode in ["get", "scan"] {
            let values = vec![("collector".into(), vec!["epsilon".into()])];
            let selection =
                Selection { values, modes: vec![mode.into()], quick: true, ..Selection::default() };
            assert_eq!(expand(&[&STORE], &selection, 2).unwrap().0.len(), 1);
        }
    }
}
