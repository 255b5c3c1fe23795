//! The figures of a simulation.

use super::engine::Engine;
use super::tally::Tally;
use super::thread::Role;
use allotment::internals::tlab::{Averages, Sizing};
use allotment::options::TlabPolicy;
use allotment::stats::TlabTotals;
use hdrhistogram::Histogram;
use serde::Serialize;

/// A first operation that takes longer has waited, in ns: as in the experiment `storm`.
const LONG: u64 = 1_000_000;

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
    /// The time that an operation stood still, at the median. `None` where none did.
    pub wait_p50: Option<f64>,
    /// The time that an operation stood still, at the 99th percentile.
    pub wait_p99: Option<f64>,
    /// The longest time that an operation stood still.
    pub wait_max: Option<f64>,
    /// Threads whose first operation took over a millisecond.
    pub first_over_1ms: u64,
    /// The time of first operations at the median.
    pub first_p50: Option<f64>,
    /// The time of first operations at the 99th percentile.
    pub first_p99: Option<f64>,
    /// The time of operations at the median: from their beginnings, or against the schedule.
    pub p50: Option<f64>,
    /// The time of operations at the 99th percentile.
    pub p99: Option<f64>,
    /// The time of operations at the 99.9th percentile.
    pub p99_9: Option<f64>,
    /// The longest time of an operation.
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
    /// Young collections, or cycles that ended beside threads, in the warm-up.
    pub warm_up_collections: u64,
    /// Cycles that ended in a stop, after the warm-up.
    pub degenerated: u64,
    /// Cycles that ended in a stop, in the warm-up.
    pub warm_up_degenerated: u64,
    /// Full collections, with the warm-up.
    pub full: u64,
    /// Stops because a thread had no memory, with the warm-up.
    pub stops: u64,
    /// The longest pause after the warm-up.
    pub longest_pause: f64,
    /// The longest pause in the warm-up.
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

impl Engine {
    /// The figures so far.
    pub(super) fn outcome(self) -> Outcome {
        let config = &self.config;
        let first_buffer = match config.policy {
            // Its size is what buffers grow to.
            TlabPolicy::Epsilon => config.min_tlab_size,
            _ => Sizing::start(config, &Averages::new(config)).desired_size,
        };
        let begin = self.counted_from().unwrap_or(self.now);
        let cpu_time = self.now.saturating_sub(begin).saturating_mul(self.scenario.cpus as u64);
        let mut totals = TlabTotals::default();
        let workers = self.threads.iter().filter(|thread| thread.role == Role::Worker);
        workers.clone().for_each(|thread| totals.add(&thread.counts));
        let Tally { warm_up, counted, firsts, operations, waits, .. } = self.tally;
        let of = |histogram: &Histogram<u64>, quantile: f64| {
            (!histogram.is_empty()).then(|| us(histogram.value_at_quantile(quantile)))
        };
        Outcome {
            policy: self.scenario.policy.name(),
            first_buffer: first_buffer as u64,
            largest_buffer: config.max_tlab_size as u64,
            operations: operations.len(),
            waited_threads: workers.filter(|thread| thread.waited).count() as u64,
            waits: waits.len(),
            wait_p50: of(&waits, 0.5),
            wait_p99: of(&waits, 0.99),
            wait_max: of(&waits, 1.0),
            first_over_1ms: firsts.count_between(LONG + 1, u64::MAX),
            first_p50: of(&firsts, 0.5),
            first_p99: of(&firsts, 0.99),
            p50: of(&operations, 0.5),
            p99: of(&operations, 0.99),
            p99_9: of(&operations, 0.999),
            max: of(&operations, 1.0),
            first_unused: self.tally.first_unused,
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
            cpu: 100.0 * counted.busy as f64 / cpu_time.max(1) as f64,
            out_of_memory: self.collector.out_of_memory.then(|| us(self.now)),
        }
    }
}
