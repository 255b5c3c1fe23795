//! The figures of a heap in an iteration, beside the score: collections, pauses, copying, waste,
//! memory.
//!
//! The probe fits any workload on a heap. It listens to each collection, since a heap keeps only
//! the last 256 records, and a short iteration with a small young generation has more collections.

mod cycles;

use super::collectors::is_concurrent;
use crate::harness::{Iteration, Probe, SecondaryValue};
use crate::hold::hold;
use crate::machine::Resident;
use crate::statistics::percentile;
use allotment::Heap;
use allotment::heap::{BuildError, HeapBuilder};
use allotment::stats::{CollectionKind, CollectionRecord, TlabStatistics};
use cycles::Cycles;
pub(super) use cycles::label;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Reads a heap's figures before and after each iteration. It reports, per iteration:
///
/// | label | unit | content |
/// |---|---|---|
/// | `gc.young`, `gc.full` | counts | collections of the young generation, and of the whole heap |
/// | `pause.p50`, `pause.p99`, `pause.max` | ms | pauses of all kinds, if there were any |
/// | `pause.total` | ms | their sum |
/// | `gc.young.object`, `gc.full.object` | ns | pauses by the objects found alive in them |
/// | `gc.young.object.p50` | ns | the same at the median of the objects; see below |
/// | `gc.moved` | MiB | objects copied or slid |
/// | `plab.waste` | % | unused part of the memory young collections copied to, if any |
/// | `tlab.waste` | % | discarded part of the bytes of all buffers |
/// | `heap.peak` | MiB | the most committed memory: at beginning, end and collections |
/// | `rss`, `rss.peak` | MiB | resident memory of the process at the end; its peak so far |
///
/// Of a heap whose collector works beside threads also:
///
/// | label | unit | content |
/// |---|---|---|
/// | `gc.concurrent`, `gc.degenerated` | counts | cycles that ended beside threads, and in a stop |
/// | `gc.moved.workers`, `gc.moved.mutators` | MiB | objects that each of them copied |
/// | `gc.cycles.young` | counts | with generations: cycles that looked at young objects only |
/// | `gc.old.marked` | counts | markings of old objects that took several young cycles |
/// | `gc.old.marking` | ms | time that workers marked old objects between cycles |
/// | `gc.old.moved` | regions | old regions whose live objects were moved |
/// | `gc.copied.old` | MiB | with generations: copies in old regions |
/// | `gc.recorded` | words | words that mutators overwrote and handed over |
/// | `assist.slices` | counts | slices of a cycle's work that mutators did |
/// | `assist.total` | ms | their time |
/// | `concurrent.mark`, `concurrent.mark.max` | ms | a part of a cycle: mean, largest; others too |
/// | `concurrent.total` | ms | all parts of all cycles |
/// | `concurrent.object` | ns | the same by the objects found alive |
///
/// The median of `gc.young.object` is robust: a host that takes a CPU away for 10 ms is 5 % of the
/// mean of 200 pauses.
pub(super) struct HeapUse {
    pub(super) heap: Heap,
    log: Log,
    waste_before: TlabStatistics,
    committed_before: usize,
    /// Whether the references that collections cleared are a row: `cleared`.
    reports_weak: bool,
}

/// The listener's notes since the last iteration.
type Log = Arc<Mutex<Heard>>;

#[derive(Clone, Debug, Default, PartialEq)]
struct Heard {
    young: Pauses,
    full: Pauses,
    cycles: Cycles,
    /// Pauses, in ms. A cycle has several.
    pauses: Vec<f64>,
    /// For each young collection that found live objects: nanoseconds per live object, and the
    /// number of live objects.
    young_objects: Vec<(f64, u64)>,
    moved_bytes: usize,
    weak_cleared: usize,
    /// Bytes that young collections moved, and the unused bytes of the workers' buffers.
    copied_bytes: usize,
    plab_waste_bytes: usize,
    committed_bytes: usize,
}

/// The pauses of collections of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Pauses {
    count: u64,
    pauses: Duration,
    live_objects: usize,
}

impl Pauses {
    fn add(&mut self, record: &CollectionRecord) {
        self.count += 1;
        self.pauses += record.pause;
        self.live_objects += record.live_objects;
    }

    fn by_object(&self) -> f64 {
        by_object(self.pauses, self.live_objects)
    }
}

/// Nanoseconds per live object; NaN without live objects.
fn by_object(time: Duration, live_objects: usize) -> f64 {
    if live_objects == 0 { f64::NAN } else { time.as_nanos() as f64 / live_objects as f64 }
}

/// Milliseconds of a time.
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Heard {
    fn add(&mut self, record: &CollectionRecord) {
        match record.kind() {
            CollectionKind::Full => self.full.add(record),
            CollectionKind::Young => {
                self.young.add(record);
                if record.live_objects > 0 {
                    let nanoseconds = by_object(record.pause, record.live_objects);
                    self.young_objects.push((nanoseconds, record.live_objects as u64));
                }
            }
            _ => self.cycles.add(record),
        }
        match record.cycle() {
            Some(cycle) => self.pauses.extend(cycle.pauses.iter().map(|pause| milliseconds(pause.time))),
            None => self.pauses.push(milliseconds(record.pause)),
        }
        self.moved_bytes += record.moved_bytes;
        self.weak_cleared += record.weak_cleared;
        if let Some(young) = record.young() {
            self.copied_bytes += record.moved_bytes;
            self.plab_waste_bytes += young.plab_waste_bytes;
        }
        // The memory that the heap gave back was committed until then.
        self.committed_bytes = self.committed_bytes.max(record.committed + record.uncommitted);
    }

    /// The waste in percent of the bytes of the workers' buffers; NaN without buffers. Bytes that
    /// workers gave back unused do not count.
    fn plab_waste(&self) -> f64 {
        self.plab_waste_bytes as f64 / (self.copied_bytes + self.plab_waste_bytes) as f64 * 100.0
    }

    fn values(mut self, is_concurrent: bool) -> Vec<SecondaryValue> {
        let plab_waste = self.plab_waste();
        self.pauses.sort_by(f64::total_cmp);
        let total = self.pauses.iter().sum();
        let weighted: Vec<(f64, u64)> = self.pauses.into_iter().map(|pause| (pause, 1)).collect();
        let pause = |percent| percentile(&weighted, percent);
        self.young_objects.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut values = vec![
            SecondaryValue::average("gc.young", "counts", self.young.count as f64),
            SecondaryValue::average("gc.full", "counts", self.full.count as f64),
            SecondaryValue::average("pause.p50", "ms", pause(50.0)),
            SecondaryValue::average("pause.p99", "ms", pause(99.0)),
            SecondaryValue::maximum("pause.max", "ms", pause(100.0)),
            SecondaryValue::average("pause.total", "ms", total),
            SecondaryValue::average("gc.young.object", "ns", self.young.by_object()),
            SecondaryValue::average("gc.young.object.p50", "ns", percentile(&self.young_objects, 50.0)),
            SecondaryValue::average("gc.full.object", "ns", self.full.by_object()),
            SecondaryValue::average("gc.moved", "MiB", mebibytes(self.moved_bytes as f64)),
            SecondaryValue::average("plab.waste", "%", plab_waste),
        ];
        if is_concurrent {
            values.extend(self.cycles.values());
        }
        values
    }
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

impl HeapUse {
    /// Builds the heap and its probe. The probe takes the place of the builder's listener to
    /// collections.
    ///
    /// # Errors
    /// As [`HeapBuilder::build`].
    pub(super) fn of(builder: HeapBuilder) -> Result<(Heap, HeapUse), BuildError> {
        HeapUse::listening(builder, |_| ())
    }

    /// Builds the heap and its probe, and calls `listen` for each collection too.
    ///
    /// # Errors
    /// As [`HeapUse::of`].
    pub(super) fn listening(
        builder: HeapBuilder,
        listen: impl Fn(&CollectionRecord) + Send + Sync + 'static,
    ) -> Result<(Heap, HeapUse), BuildError> {
        let log = Log::default();
        let own = Arc::clone(&log);
        let hook = move |record: &CollectionRecord| {
            hold(&own).add(record);
            listen(record);
        };
        let heap = builder.on_collection(hook).build()?;
        let (watched, waste_before) = (heap.clone(), TlabStatistics::default());
        let probe = HeapUse { heap: watched, log, waste_before, committed_before: 0, reports_weak: false };
        Ok((heap, probe))
    }

    /// Reports the references that collections cleared too.
    pub(super) fn reporting_weak(self) -> HeapUse {
        HeapUse { reports_weak: true, ..self }
    }

    /// For workers that collect while they prepare. Those collections are not part of the
    /// iteration.
    pub(super) fn preparation(&self) -> Preparation {
        Preparation(Arc::clone(&self.log))
    }
}

/// See [`HeapUse::preparation`].
#[derive(Clone)]
pub(super) struct Preparation(Log);

impl Preparation {
    /// Forgets the collections so far. The last worker to prepare calls it.
    pub(super) fn is_over(&self) {
        *hold(&self.0) = Heard::default();
    }
}

impl Probe for HeapUse {
    fn before(&mut self) {
        *hold(&self.log) = Heard::default();
        self.waste_before = self.heap.tlab_totals().sum;
        self.committed_before = self.heap.memory().committed_bytes;
    }

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        let heard = std::mem::take(&mut *hold(&self.log));
        let waste = self.heap.tlab_totals().sum.since(&self.waste_before);
        let committed = self.heap.memory().committed_bytes;
        let peak = committed.max(self.committed_before).max(heard.committed_bytes);
        let mut values = Vec::new();
        if self.reports_weak {
            values.push(SecondaryValue::average("cleared", "counts", heard.weak_cleared as f64));
        }
        values.extend(heard.values(is_concurrent(self.heap.collector())));
        values.push(SecondaryValue::average("tlab.waste", "%", waste.waste_percent()));
        values.push(SecondaryValue::maximum("heap.peak", "MiB", mebibytes(peak as f64)));
        // Where the system gives no figure, none is reported.
        if let Ok(resident) = Resident::of_this_process() {
            values.push(SecondaryValue::average("rss", "MiB", mebibytes(resident.bytes as f64)));
            values.push(SecondaryValue::maximum("rss.peak", "MiB", mebibytes(resident.peak_bytes as f64)));
        }
        values
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use allotment::{NewArray, NewSlots, OutOfMemory, Slots, alloc, root};

    pub(crate) fn value(values: &[SecondaryValue], label: &str) -> f64 {
        values
            .iter()
            .find(|value| value.label == label)
            .unwrap_or_else(|| panic!("{label}: {values:?}"))
            .value
    }

    pub(crate) fn iteration() -> Iteration {
        let time = Duration::from_secs(1);
        Iteration { measured_operations: 1, all_operations: 1, time, window: time }
    }

    #[test]
    fn an_iterations_collections_are_its_own() {
        let (heap, mut probe) = HeapUse::of(Heap::builder().max_heap_size(16 << 20)).unwrap();
        let collect = |times: usize| {
            heap.attach(|mu| {
                // Garbage before the kept object, and enough of it that the collector empties its
                // region.
                alloc!(mu, NewSlots::<u8>::new(50_000, 0))?;
                root!(mu, kept = alloc!(mu, NewSlots::<u8>::new(100_000, 1))?);
                (0..times).for_each(|_| assert!(mu.collect()));
                assert_eq!(kept.get(mu).len(), 100_000);
                Ok::<(), OutOfMemory>(())
            })
            .unwrap()
            .unwrap();
        };
        collect(2);
        let preparation = probe.preparation();
        probe.before();
        collect(1);
        preparation.is_over();
        collect(3);
        let values = probe.after(&iteration());
        assert_eq!((value(&values, "gc.full"), value(&values, "gc.young")), (3.0, 0.0));
        let moved = value(&values, "gc.moved");
        assert!(moved > 0.09 && moved < 0.2, "{moved}");
        let pause = |label| value(&values, label);
        assert!(pause("pause.p50") > 0.0 && pause("pause.p50") <= pause("pause.p99"));
        assert!(pause("pause.p99") <= pause("pause.max") && pause("pause.max") < pause("pause.total"));
        assert!(value(&values, "gc.full.object") > 0.0 && value(&values, "gc.young.object").is_nan());
        assert!(value(&values, "gc.young.object.p50").is_nan());
        assert!(value(&values, "heap.peak") > 0.0 && value(&values, "heap.peak") <= 16.0);
        assert!(value(&values, "rss.peak") >= value(&values, "rss"));
        assert!((0.0..=100.0).contains(&value(&values, "tlab.waste")));

        probe.before();
        let values = probe.after(&iteration());
        assert_eq!((value(&values, "gc.full"), value(&values, "pause.total")), (0.0, 0.0));
        assert!(value(&values, "pause.p50").is_nan(), "left out by the harness");
    }

    #[test]
    fn what_workers_leave_of_their_buffers_is_told_in_percent() {
        let (heap, mut probe) = HeapUse::of(Heap::builder().max_heap_size(16 << 20)).unwrap();
        probe.before();
        assert!(value(&probe.after(&iteration()), "plab.waste").is_nan(), "nothing was copied");
        probe.before();
        heap.attach(|mu| {
            root!(mu, kept = alloc!(mu, NewArray::<Option<Slots<u8>>>::new(100, None))?);
            for index in 0..40_000 {
                // No whole number of these objects fills a buffer.
                let bytes = alloc!(mu, NewSlots::<u8>::new(1000, 0))?;
                if index < 100 {
                    kept.get(mu).at(index).store(mu, Some(bytes));
                }
            }
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
        let (mut copied, mut waste) = (0, 0);
        let (mut pauses, mut objects, mut of_objects) = (0.0, 0, Vec::new());
        for record in heap.collections().recent {
            let Some(young) = record.young() else { continue };
            copied += record.moved_bytes;
            waste += young.plab_waste_bytes;
            let pause = record.pause.as_nanos() as f64;
            pauses += pause;
            objects += record.live_objects;
            if record.live_objects > 0 {
                of_objects.push(pause / record.live_objects as f64);
            }
        }
        assert!(copied >= 100 * 1016 && waste > 0, "{copied} {waste}");
        let values = probe.after(&iteration());
        // A collection that found no live object counts only for the mean.
        let mean = value(&values, "gc.young.object");
        assert!((mean - pauses / objects as f64).abs() < 1e-6, "{mean}: {pauses} ns, {objects} objects");
        of_objects.sort_by(f64::total_cmp);
        let (least, most) = (of_objects[0], of_objects[of_objects.len() - 1]);
        let median = value(&values, "gc.young.object.p50");
        assert!((least..=most).contains(&median), "{median}, of {least} to {most}");
        let told = value(&values, "plab.waste");
        let expected = 100.0 * waste as f64 / (copied + waste) as f64;
        assert!((told - expected).abs() < 1e-9, "{told} {expected}");
    }

    /// A heap keeps 256 records.
    #[test]
    fn no_collection_is_forgotten() {
        let (heap, mut probe) = HeapUse::of(Heap::builder().max_heap_size(16 << 20)).unwrap();
        probe.before();
        heap.attach(|mu| (0..300).for_each(|_| assert!(mu.collect()))).unwrap();
        assert_eq!(value(&probe.after(&iteration()), "gc.full"), 300.0);
    }
}
