//! The part of sizing that all threads share: averages over collection cycles, written only when a
//! cycle ends.
//!
//! A thread reads them when it starts and when a cycle ends, never at a refill. So they need no
//! atomics. The order between the end of a cycle and its threads suffices.

use super::{Average, Config};

/// The heap's numbers for a cycle that ended, summed over its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapCycle {
    /// Bytes that allocation had taken of `capacity` when the cycle ended.
    pub used: usize,
    /// Bytes that could be allocated between two cycles: the eden, or the regions mutators may use.
    ///
    /// A collector without a fixed eden must not report the whole heap here: `used` would never
    /// pass half of it, and a cycle that stays below half teaches the policies nothing
    /// (JDK-8353184).
    pub capacity: usize,
    /// Bytes of buffers that all threads together were given in the cycle.
    pub requested: usize,
    /// Threads that were given at least one buffer in the cycle.
    pub threads: usize,
}

/// Averages over cycles, one per heap.
///
/// At a cycle's end, [`end_cycle`](Self::end_cycle) comes first and [`Sizing::end_cycle`] of every
/// thread second: the threads' new sizes use the new averages.
///
/// [`Sizing::end_cycle`]: super::Sizing::end_cycle
#[derive(Clone, Debug, PartialEq)]
pub struct Averages {
    /// Threads that allocate in a cycle. Seeded with 1.
    threads: Average,
    /// Share of the capacity that all threads request in a cycle. Seeded with 0.10 (JDK-8381834).
    pub(super) requested: Average,
    /// Capacity of the newest cycle, in bytes.
    pub(super) capacity: usize,
}

impl Averages {
    /// The averages of a heap that has not collected yet.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let seeded = |value| {
            let mut average = Average::new(config.allocation_weight);
            average.sample(value);
            average
        };
        Self { threads: seeded(1.0), requested: seeded(0.10), capacity: config.capacity }
    }

    /// Adds a cycle that ended.
    ///
    /// The number of threads is sampled if any of them requested a buffer. The requested share (at
    /// most 1) is sampled if the cycle was representative: more than half of its capacity was used.
    pub fn end_cycle(&mut self, cycle: &HeapCycle) {
        self.capacity = cycle.capacity;
        if cycle.requested == 0 {
            return;
        }
        self.threads.sample(cycle.threads as f32);
        if representative(cycle.used, cycle.capacity) {
            self.requested.sample(fraction(cycle.requested, cycle.capacity));
        }
    }

    /// The number of threads that a new thread will share the capacity with, itself included. This
    /// is the average rounded to the nearest whole number, at least 1.
    #[must_use]
    pub fn allocating_threads(&self) -> usize {
        // The cast saturates at the nearest integer value, so nothing here can overflow.
        ((self.threads.value() + 0.5) as usize).max(1)
    }

    /// The average share of the capacity that one allocating thread requests in a cycle.
    pub(super) fn requested_per_thread(&self) -> f32 {
        self.requested.value() / self.threads.value().max(1.0)
    }
}

/// Whether a cycle says anything about allocation: more than half of the capacity was used.
pub(super) const fn representative(used: usize, capacity: usize) -> bool {
    used > capacity.saturating_sub(used)
}

/// `part` of `whole`, at most 1; an empty whole counts as one byte.
pub(super) fn fraction(part: usize, whole: usize) -> f32 {
    (part as f64 / whole.max(1) as f64).min(1.0) as f32
}
