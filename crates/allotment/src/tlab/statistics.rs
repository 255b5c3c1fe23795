//! The cost of buffers: counts of one thread, their sum over threads, and HotSpot's line that
//! reports it.
//!
//! These are plain numbers without atomics; [`counters`](super::counters) supplies them while
//! threads run. Counts only ever grow, and a cycle's counts are the
//! [difference](TlabStatistics::since) of two readings.
//!
//! Refused: to clear the counts at each cycle, as HotSpot does. A reader and a cycle would race for
//! the last counts.

use std::fmt;

/// The counts of one thread's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlabStatistics {
    /// Buffers taken.
    pub refills: u64,
    /// Objects sent outside because their buffer was worth keeping.
    pub slow_allocations: u64,
    /// Bytes thrown away with buffers that were dropped for a new one.
    pub refill_waste: u64,
    /// Bytes thrown away with buffers that were retired for any other reason: the end of a cycle or
    /// of a thread.
    pub gc_waste: u64,
    /// Bytes of the buffers taken.
    pub allocated: u64,
    /// Bytes of objects in buffers that were given up. Objects in a buffer in use do not count yet.
    pub inside_bytes: u64,
    /// Objects allocated outside a buffer, for any reason.
    pub outside_allocations: u64,
    /// Bytes of those objects.
    pub outside_bytes: u64,
    /// Attempts to move the top of a region by compare-and-exchange.
    pub compare_exchange_attempts: u64,
    /// Attempts that succeeded; the others met another thread.
    pub compare_exchange_successes: u64,
}

impl TlabStatistics {
    /// Combines two field by field.
    fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            refills: with(self.refills, other.refills),
            slow_allocations: with(self.slow_allocations, other.slow_allocations),
            refill_waste: with(self.refill_waste, other.refill_waste),
            gc_waste: with(self.gc_waste, other.gc_waste),
            allocated: with(self.allocated, other.allocated),
            inside_bytes: with(self.inside_bytes, other.inside_bytes),
            outside_allocations: with(self.outside_allocations, other.outside_allocations),
            outside_bytes: with(self.outside_bytes, other.outside_bytes),
            compare_exchange_attempts: with(self.compare_exchange_attempts, other.compare_exchange_attempts),
            compare_exchange_successes: with(
                self.compare_exchange_successes,
                other.compare_exchange_successes,
            ),
        }
    }

    /// Adds `other` to every field; a field that would overflow stays at its largest value.
    pub fn add(&mut self, other: &Self) {
        *self = self.zip(other, u64::saturating_add);
    }

    /// The counts after `earlier`, an older reading of the same thread.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        self.zip(earlier, u64::saturating_sub)
    }

    /// Bytes of objects, in buffers that were given up and outside buffers. Exact for a thread
    /// without a buffer in use, such as one that has detached. Otherwise less by the objects in
    /// that buffer.
    ///
    /// Memory that a thread reserved and did not use counts as an object. Memory that it recycled
    /// and used again counts each time.
    #[must_use]
    pub const fn object_bytes(&self) -> u64 {
        self.inside_bytes.saturating_add(self.outside_bytes)
    }

    /// Bytes allocated, in buffers and outside them. A buffer counts as a whole when it is taken.
    #[must_use]
    pub const fn allocated_in_all(&self) -> u64 {
        self.allocated.saturating_add(self.outside_bytes)
    }

    /// Waste in percent of the bytes of all buffers taken, (gc + refill waste) / allocated; 0 if no
    /// buffer was taken.
    ///
    /// Objects outside buffers count on neither side.
    #[must_use]
    pub fn waste_percent(&self) -> f64 {
        if self.allocated == 0 {
            return 0.0;
        }
        100.0 * self.gc_waste.saturating_add(self.refill_waste) as f64 / self.allocated as f64
    }
}

/// The statistics of several threads: the sum, and for each field the largest value of one thread.
///
/// Prints as the debug line of `-Xlog:gc+tlab` in JDK 22 to 26, without its decorations:
///
/// ```
/// use allotment::stats::{TlabStatistics, TlabTotals};
///
/// let mut totals = TlabTotals::default();
/// let quick = TlabStatistics { refills: 3, allocated: 4000, gc_waste: 410, ..Default::default() };
/// totals.add(&quick);
/// let slow = TlabStatistics { refill_waste: 16, slow_allocations: 1, ..Default::default() };
/// totals.add(&TlabStatistics { refills: 2, allocated: 4000, ..slow });
/// assert_eq!(
///     totals.to_string(),
///     "TLAB totals: thrds: 2  refills: 5 max: 3 slow allocs: 1 max 1 waste:  5.3% \
///      gc: 410B max: 410B slow: 16B max: 16B"
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TlabTotals {
    /// Field by field, the sum over threads.
    pub sum: TlabStatistics,
    /// Field by field, the largest value of any one thread.
    pub max: TlabStatistics,
    /// Threads that took at least one buffer. The others count in the sums only.
    pub threads: usize,
}

impl TlabTotals {
    /// Adds one thread.
    pub fn add(&mut self, thread: &TlabStatistics) {
        self.sum.add(thread);
        self.max = self.max.zip(thread, u64::max);
        self.threads += usize::from(thread.refills > 0);
    }

    /// Waste of all threads' buffers in percent of their bytes; see
    /// [`TlabStatistics::waste_percent`].
    #[must_use]
    pub fn waste_percent(&self) -> f64 {
        self.sum.waste_percent()
    }
}

impl fmt::Display for TlabTotals {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sum, max, threads } = self;
        // No colon after the second `max`, and two spaces before `refills`, as in HotSpot's line.
        write!(
            formatter,
            "TLAB totals: thrds: {threads}  refills: {} max: {} slow allocs: {} max {} waste: {:4.1}% \
             gc: {}B max: {}B slow: {}B max: {}B",
            sum.refills,
            max.refills,
            sum.slow_allocations,
            max.slow_allocations,
            self.waste_percent(),
            sum.gc_waste,
            max.gc_waste,
            sum.refill_waste,
            max.refill_waste,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn statistics() -> impl Strategy<Value = TlabStatistics> {
        proptest::array::uniform10(prop_oneof![0..1000u64, any::<u64>()]).prop_map(|fields| TlabStatistics {
            refills: fields[0],
            slow_allocations: fields[1],
            refill_waste: fields[2],
            gc_waste: fields[3],
            allocated: fields[4],
            outside_allocations: fields[5],
            outside_bytes: fields[6],
            compare_exchange_attempts: fields[7],
            compare_exchange_successes: fields[8],
            inside_bytes: fields[9],
        })
    }

    #[test]
    fn without_a_buffer_nothing_is_wasted_and_no_thread_counts() {
        let mut totals = TlabTotals::default();
        totals.add(&TlabStatistics { outside_allocations: 7, outside_bytes: 700, ..Default::default() });
        assert_eq!(totals.waste_percent(), 0.0);
        assert_eq!((totals.threads, totals.sum.outside_bytes), (0, 700));
        assert_eq!(
            totals.to_string(),
            "TLAB totals: thrds: 0  refills: 0 max: 0 slow allocs: 0 max 0 waste:  0.0% \
             gc: 0B max: 0B slow: 0B max: 0B"
        );
    }

    #[test]
    fn waste_counts_both_kinds_against_buffer_bytes() {
        let thread = TlabStatistics {
            refills: 4,
            refill_waste: 64,
            gc_waste: 936,
            allocated: 1000,
            outside_bytes: 1 << 40,
            ..Default::default()
        };
        let mut totals = TlabTotals::default();
        totals.add(&thread);
        assert_eq!(totals.waste_percent(), 100.0);
        assert!(totals.to_string().contains("waste: 100.0% gc: 936B max: 936B slow: 64B max: 64B"));
    }

    proptest! {
        #[test]
        fn a_later_reading_minus_an_earlier_one_is_what_was_added(
            earlier in statistics(), added in statistics()
        ) {
            let mut later = earlier;
            later.add(&added);
            let since = later.since(&earlier);
            // A saturated field has lost the part that did not fit, and nothing else.
            prop_assert_eq!(since.refills, added.refills.min(u64::MAX - earlier.refills));
            prop_assert_eq!(
                since.inside_bytes,
                added.inside_bytes.min(u64::MAX - earlier.inside_bytes)
            );
            prop_assert_eq!(since.allocated, added.allocated.min(u64::MAX - earlier.allocated));
            prop_assert_eq!(
                since.compare_exchange_successes,
                added.compare_exchange_successes.min(u64::MAX - earlier.compare_exchange_successes)
            );
        }

        #[test]
        fn totals_do_not_depend_on_the_order_of_threads(
            threads in proptest::collection::vec(statistics(), 0..8),
        ) {
            let (mut forwards, mut backwards) = (TlabTotals::default(), TlabTotals::default());
            threads.iter().for_each(|thread| forwards.add(thread));
            threads.iter().rev().for_each(|thread| backwards.add(thread));
            prop_assert_eq!(forwards, backwards);
            let most = threads.iter().map(|thread| thread.gc_waste).max().unwrap_or(0);
            prop_assert_eq!(forwards.max.gc_waste, most);
            prop_assert_eq!(forwards.threads, threads.iter().filter(|thread| thread.refills > 0).count());
        }
    }
}
