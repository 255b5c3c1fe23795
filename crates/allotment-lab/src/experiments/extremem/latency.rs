//! Latencies: the logs of the threads, which are large arrays in the heap, and their percentiles.
//!
//! A log has a fixed capacity; when it is full, the oldest samples are overwritten, and the least
//! and the largest of all are kept apart. Extremem merges the logs of all threads into one of the
//! same capacity, and loses samples of the threads that end first. Here the merged log keeps all
//! samples that the threads kept, and is not in the heap.

use super::text::Made;
use allotment::{Array, Local, Mutator, NewArray, NewSlots, Slots, alloc, root};
use std::time::Duration;

/// Kinds of events that a thread logs.
pub(super) const KINDS: usize = 5;

/// An event that a customer thread logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visit {
    Preparation,
    Purchase,
    Save,
    Abandon,
    Nothing,
}

/// An event that a server thread logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Duty {
    Sales,
    Browsing,
    Customers,
    Products,
    Idle,
}

/// The arrays of one thread.
pub(super) type Arrays = Array<Option<Slots<i64>>>;

/// Arrays for one thread, of `capacity` samples each.
///
/// # Errors
/// The heap is full.
pub(super) fn arrays<'m>(mutator: &'m mut Mutator<'_>, capacity: usize) -> Made<'m, Arrays> {
    root!(mutator, arrays = alloc!(mutator, NewArray::<Option<Slots<i64>>>::new(KINDS, None))?);
    for kind in 0..KINDS {
        let log = alloc!(mutator, NewSlots::new(capacity, 0_i64))?;
        arrays.get(mutator).at(kind).store(mutator, Some(log));
    }
    Ok(arrays.get(mutator))
}

/// Latencies of one kind, in microseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Latencies {
    /// Events, those included whose samples were overwritten.
    pub(super) count: u64,
    least: i64,
    largest: i64,
    samples: Vec<i64>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies { count: 0, least: i64::MAX, largest: i64::MIN, samples: Vec::new() }
    }
}

/// A percentile.
pub(super) struct Percentile {
    pub(super) label: &'static str,
    /// In hundred-thousandths.
    part: u64,
    /// The number of samples that it needs.
    needed: u64,
}

impl Percentile {
    const fn new(label: &'static str, part: u64, needed: u64) -> Percentile {
        Percentile { label, part, needed }
    }
}

/// The percentiles that are reported.
pub(super) const PERCENTILES: [Percentile; 7] = [
    Percentile::new("p50", 50_000, 2),
    Percentile::new("p95", 95_000, 100),
    Percentile::new("p99", 99_000, 100),
    Percentile::new("p99.9", 99_900, 1000),
    Percentile::new("p99.99", 99_990, 10_000),
    Percentile::new("p99.999", 99_999, 100_000),
    Percentile::new("p100", 100_000, 1),
];

impl Latencies {
    /// Adds one sample.
    pub(super) fn add(&mut self, sample: i64) {
        self.note(sample);
        self.samples.push(sample);
    }

    /// Adds one sample to the count and the extremes alone.
    fn note(&mut self, sample: i64) {
        self.count += 1;
        self.least = self.least.min(sample);
        self.largest = self.largest.max(sample);
    }

    /// The kept samples in their order. The first is the least of all events, the last the largest.
    fn sorted(&self) -> Vec<i64> {
        let mut sorted = self.samples.clone();
        sorted.sort_unstable();
        if let Some(first) = sorted.first_mut() {
            *first = self.least;
        }
        if let Some(last) = sorted.last_mut() {
            *last = self.largest;
        }
        sorted
    }

    /// The sorted samples as times. An event before its time is not late.
    pub(super) fn times(&self) -> impl Iterator<Item = Duration> {
        self.sorted().into_iter().map(|sample| Duration::from_micros(u64::try_from(sample).unwrap_or(0)))
    }

    /// Adds all of another.
    pub(super) fn merge(&mut self, other: &Latencies) {
        self.count += other.count;
        self.least = self.least.min(other.least);
        self.largest = self.largest.max(other.largest);
        self.samples.extend_from_slice(&other.samples);
    }

    /// The percentiles of [`PERCENTILES`]. A percentile q of n samples is the element
    /// `floor(n q - 1)` of the sorted samples, counted from 0, of which the first is the least and
    /// the last the largest of all events. `None`: there are too few samples.
    pub(super) fn percentiles(&self) -> [Option<i64>; 7] {
        let sorted = self.sorted();
        let n = sorted.len() as u64;
        // In whole numbers, where the formula's floor is exact.
        PERCENTILES.map(|Percentile { part, needed, .. }| {
            (n >= needed).then(|| sorted[(n * part / 100_000 - 1) as usize])
        })
    }
}

/// The logs of one thread.
pub(super) struct Logs<'r> {
    arrays: Local<'r, Arrays>,
    /// The counts and extremes of the logs, whose samples are in the heap.
    of: [Latencies; KINDS],
}

impl<'r> Logs<'r> {
    /// Empty logs with these arrays.
    pub(super) fn new(arrays: Local<'r, Arrays>) -> Logs<'r> {
        Logs { arrays, of: Default::default() }
    }

    /// Logs a sample, in microseconds.
    pub(super) fn add(&mut self, mutator: &Mutator<'_>, kind: usize, sample: i64) {
        let log = &mut self.of[kind];
        if let Some(array) = self.arrays.get(mutator).at(kind).load(mutator) {
            let place = log.count % array.len() as u64;
            array.at(place as usize).set(sample);
        }
        log.note(sample);
    }

    /// The contents of the logs.
    pub(super) fn latencies(&self, mutator: &Mutator<'_>) -> [Latencies; KINDS] {
        std::array::from_fn(|kind| {
            let (log, array) = (self.of[kind].clone(), self.arrays.get(mutator).at(kind).load(mutator));
            let samples = array.map_or(Vec::new(), |array| array.iter().take(log.count as usize).collect());
            Latencies { samples, ..log }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::{Heap, OutOfMemory};

    fn of(n: i64) -> [Option<i64>; 7] {
        let mut latencies = Latencies::default();
        // 1 to n, not in order.
        (1..=n).rev().for_each(|sample| latencies.add(sample));
        latencies.percentiles()
    }

    #[test]
    fn percentiles_follow_extremems_rule() {
        assert_eq!(of(0), [None; 7]);
        assert_eq!(of(1), [None, None, None, None, None, None, Some(1)]);
        assert_eq!(of(2), [Some(1), None, None, None, None, None, Some(2)]);
        assert_eq!(of(99), [Some(49), None, None, None, None, None, Some(99)]);
        assert_eq!(of(100), [Some(50), Some(95), Some(99), None, None, None, Some(100)]);
        let large = [50_000, 95_000, 99_000, 99_900, 99_990, 99_999, 100_000];
        assert_eq!(of(100_000), large.map(Some));
        let larger = [50_000, 95_000, 99_000, 99_900, 99_990, 99_999, 100_001];
        assert_eq!(of(100_001), larger.map(Some));
    }

    #[test]
    fn a_full_log_forgets_the_oldest_and_neither_the_least_nor_the_largest() {
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            root!(mutator, arrays = arrays(mutator, 100)?);
            let mut logs = Logs::new(arrays);
            logs.add(mutator, 1, -5);
            logs.add(mutator, 1, 9999);
            for sample in 0..150 {
                logs.add(mutator, 1, sample);
            }
            mutator.collect();
            let all = logs.latencies(mutator);
            let [none, kept, ..] = &all;
            assert_eq!((none.count, none.percentiles()), (0, [None; 7]));
            assert_eq!((kept.count, kept.samples.len()), (152, 100));
            let mut samples = kept.samples.clone();
            samples.sort_unstable();
            assert!(samples.iter().copied().eq(50..150));
            // 50 to 149 with the ends replaced.
            let percentiles = kept.percentiles();
            assert_eq!((percentiles[0], percentiles[2], percentiles[6]), (Some(99), Some(148), Some(9999)));
            let mut merged = kept.clone();
            merged.merge(&Latencies { count: 1, least: -9, largest: -9, samples: vec![-9] });
            assert_eq!((merged.count, merged.samples.len(), merged.least), (153, 101, -9));
            Ok::<(), OutOfMemory>(())
        })
        .unwrap()
        .unwrap();
    }
}
