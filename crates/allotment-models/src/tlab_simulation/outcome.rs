//! The figures of a simulation.

use super::scenario::Scenario;
use allotment::stats::TlabTotals;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::time::Duration;

/// A first operation that takes longer has waited, in ns: as in the experiment `storm`.
const LONG: u64 = 1_000_000;

/// A longer time counts as this, in ns: a day.
const LONGEST: u64 = 86_400_000_000_000;

/// Counts of the collector, for one part of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Young collections, or cycles that ended beside threads.
    pub(super) collections: u64,
    /// Cycles that ended in a stop.
    pub(super) degenerated: u64,
    pub(super) full: u64,
    /// Stops because a thread had no memory, whatever ended them.
    pub(super) stops: u64,
    /// In ns.
    pub(super) longest_pause: u64,
    /// CPU time, in ns.
    pub(super) busy: u64,
}

/// Counts taken while the simulation runs.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) before: Counts,
    pub(super) warm_up: Counts,
    pub(super) counted: Counts,
    /// Bytes given to threads, as buffers or for one object; and when all threads began.
    pub(super) granted: u64,
    pub(super) granted_before: u64,
    /// Bytes of objects when all threads began.
    pub(super) objects_before: u64,
    /// Of the bytes given to threads until the first collection, those without an object, in
    /// percent.
    pub(super) first_unused: Option<f64>,
    /// Times of the first operations, in ns.
    pub(super) firsts: Vec<u64>,
    operations: Histogram<u64>,
    waits: Histogram<u64>,
}

impl Default for Tally {
    fn default() -> Tally {
        let histogram = || Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order");
        Tally {
            before: Counts::default(),
            warm_up: Counts::default(),
            counted: Counts::default(),
            granted: 0,
            granted_before: 0,
            objects_before: 0,
            first_unused: None,
            firsts: Vec::new(),
            operations: histogram(),
            waits: histogram(),
        }
    }
}

impl Tally {
    /// Counts an operation that took so long, in ns.
    pub(super) fn operation(&mut self, took: u64) {
        self.operations.saturating_record(took);
    }

    /// Counts a part of an operation that stood still for memory for so long, in ns.
    pub(super) fn wait(&mut self, held: u64) {
        self.waits.saturating_record(held);
    }
}

/// The figures of a simulation. Times are in microseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The policy of buffer sizes.
    pub policy: &'static str,
    /// Bytes of a thread's first buffer, in a heap that has not collected.
    pub first_buffer: u64,
    /// Bytes of the largest buffer.
    pub largest_buffer: u64,
    /// Operations that were counted.
    pub operations: u64,
    /// Threads of which an operation stood still for memory.
    pub waited_threads: u64,
    /// Operations that stood still for memory. With a think time each of the two parts counts
    /// alone.
    pub waits: u64,
    /// For how long one did, at the median. `None` where none did.
    pub wait_p50: Option<f64>,
    /// The same at the 99th percentile.
    pub wait_p99: Option<f64>,
    /// The longest.
    pub wait_max: Option<f64>,
    /// Threads whose first operation took over a millisecond.
    pub first_over_1ms: u64,
    /// The time of first operations at the median.
    pub first_p50: Option<f64>,
    /// The same at the 99th percentile.
    pub first_p99: Option<f64>,
    /// The time of operations at the median: from their beginnings, or against the schedule.
    pub p50: Option<f64>,
    /// The same at the 99th percentile.
    pub p99: Option<f64>,
    /// The same at the 99.9th percentile.
    pub p99_9: Option<f64>,
    /// The longest.
    pub max: Option<f64>,
    /// Of the bytes that threads were given until the first collection, those without an object, in
    /// percent. `None` without a collection.
    pub first_unused: Option<f64>,
    /// Waste of buffers in percent of the bytes of all buffers, with the warm-up.
    pub waste: f64,
    /// Buffers taken, with the warm-up.
    pub refills: u64,
    /// Young collections, or cycles that ended beside threads, after the warm-up.
    pub collections: u64,
    /// The same in the warm-up.
    pub warm_up_collections: u64,
    /// Cycles that ended in a stop, after the warm-up.
    pub degenerated: u64,
    /// The same in the warm-up.
    pub warm_up_degenerated: u64,
    /// Full collections, with the warm-up.
    pub full: u64,
    /// Stops because a thread had no memory, with the warm-up.
    pub stops: u64,
    /// The longest pause after the warm-up.
    pub longest_pause: f64,
    /// The same in the warm-up.
    pub warm_up_longest_pause: f64,
    /// CPU time in percent of all CPUs, after the warm-up.
    pub cpu: f64,
    /// When a thread had no memory after all that a collector can do, since the beginning.
    pub out_of_memory: Option<f64>,
}

/// Microseconds.
fn us(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

impl Outcome {
    /// The figures of `tally`. `capacity`: CPU time that there was, in ns.
    pub(super) fn new(
        tally: Tally,
        scenario: Scenario,
        (first_buffer, largest_buffer): (u64, u64),
        totals: &TlabTotals,
        waited: usize,
        capacity: u64,
        out_of_memory: Option<Duration>,
    ) -> Outcome {
        let Tally { warm_up, counted, mut firsts, operations, waits, .. } = tally;
        let of = |histogram: &Histogram<u64>, quantile: f64| {
            (!histogram.is_empty()).then(|| us(histogram.value_at_quantile(quantile)))
        };
        firsts.sort_unstable();
        let first = |quantile: f64| {
            let place = (firsts.len() as f64 * quantile).ceil() as usize;
            firsts.get(place.saturating_sub(1)).copied().map(us)
        };
        Outcome {
            policy: scenario.policy.name(),
            first_buffer,
            largest_buffer,
            operations: operations.len(),
            waited_threads: waited as u64,
            waits: waits.len(),
            wait_p50: of(&waits, 0.5),
            wait_p99: of(&waits, 0.99),
            wait_max: of(&waits, 1.0),
            first_over_1ms: firsts.iter().filter(|time| **time > LONG).count() as u64,
            first_p50: first(0.5),
            first_p99: first(0.99),
            p50: of(&operations, 0.5),
            p99: of(&operations, 0.99),
            p99_9: of(&operations, 0.999),
            max: of(&operations, 1.0),
            first_unused: tally.first_unused,
            waste: totals.waste_percent(),
            refills: totals.sum.refills,
            collections: counted.collections,
            warm_up_collections: warm_up.collections,
            degenerated: counted.degenerated,
            warm_up_degenerated: warm_up.degenerated,
            full: counted.full + warm_up.full,
            stops: counted.stops + warm_up.stops,
            longest_pause: us(counted.longest_pause),
            warm_up_longest_pause: us(warm_up.longest_pause),
            cpu: 100.0 * counted.busy as f64 / capacity.max(1) as f64,
            out_of_memory: out_of_memory.map(|time| time.as_secs_f64() * 1e6),
        }
    }
}
