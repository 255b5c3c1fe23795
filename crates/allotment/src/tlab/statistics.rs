//! The cost of buffers: counts of one thread, their sum over threads, and HotSpot's line that
//! reports it.
//!
//! The counts have two forms. [`TlabStatistics`] are plain numbers. [`StripedCounters`] are those
//! of a running thread: each mutator has a stripe of its own, and a reader sums the stripes. Since
//! only one thread writes a stripe, adding is a load and a store. An atomic addition would lock the
//! line for no other thread. Counts only ever grow, and a cycle's counts are the
//! [difference](TlabStatistics::since) of two readings.
//!
//! Refused:
//!
//! - To clear the counts at each cycle, as HotSpot does. A reader and a cycle would race for the
//!   last counts.
//! - Counters shared by all threads. A shared counter on the refill path costs more than the refill
//!   (JDK-8387806 met that in HotSpot).

use crate::sync::{AtomicU64, Ordering};
use std::fmt;

/// Declares the counts, in both forms.
macro_rules! counts {
    ($($(#[doc = $text:literal])+ $count:ident,)+) => {
        /// The counts of one thread's buffers.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct TlabStatistics {
            $($(#[doc = $text])+ pub $count: u64,)+
        }

        /// One mutator's stripe of the heap's counts, while the mutator runs.
        ///
        /// Only the owning mutator may call the methods that count, or a thread that acts for it
        /// while it is stopped. Two callers at once would lose counts and nothing else. Any thread
        /// may call [`read`](Self::read) at any time. Each field is then a value that the field
        /// had, but the fields need not be of the same instant.
        #[derive(Debug, Default)]
        pub(crate) struct StripedCounters {
            $($count: AtomicU64,)+
        }

        impl TlabStatistics {
            /// Combines two field by field.
            fn zip(&self, other: &Self, with: impl Fn(u64, u64) -> u64) -> Self {
                Self { $($count: with(self.$count, other.$count),)+ }
            }
        }

        impl StripedCounters {
            /// The counts so far.
            #[must_use]
            pub(crate) fn read(&self) -> TlabStatistics {
                TlabStatistics { $($count: self.$count.load(Ordering::Relaxed),)+ }
            }
        }
    };
}
counts! {
    /// Buffers taken.
    refills,
    /// Objects sent outside because their buffer was worth keeping.
    slow_allocations,
    /// Bytes thrown away with buffers that were dropped for a new one.
    refill_waste,
    /// Bytes thrown away with buffers that were retired for any other reason: the end of a cycle or
    /// of a thread.
    gc_waste,
    /// Bytes of the buffers taken.
    allocated,
    /// Bytes of objects in buffers that were given up. Objects in a buffer in use do not count yet.
    inside_bytes,
    /// Objects allocated outside a buffer, for any reason.
    outside_allocations,
    /// Bytes of those objects.
    outside_bytes,
    /// Attempts to move the top of a region by compare-and-exchange.
    compare_exchange_attempts,
    /// Attempts that succeeded; the others met another thread.
    compare_exchange_successes,
}

impl TlabStatistics {
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

/// Adds without a locked instruction: only the owner writes.
#[inline(always)]
pub(crate) fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl StripedCounters {
    /// Counts a buffer of `bytes` taken.
    #[inline]
    pub(crate) fn refilled(&self, bytes: usize) {
        add(&self.refills, 1);
        add(&self.allocated, bytes as u64);
    }

    /// Counts `bytes` of objects in a buffer that is given up, or in a part of it that is recycled.
    #[inline]
    pub(crate) fn filled(&self, bytes: usize) {
        add(&self.inside_bytes, bytes as u64);
    }

    /// Counts a buffer dropped for a new one with `free` bytes unused.
    #[inline]
    pub(crate) fn dropped(&self, free: usize) {
        add(&self.refill_waste, free as u64);
    }

    /// Counts a buffer retired for any other reason with `free` bytes unused.
    #[inline]
    pub(crate) fn retired(&self, free: usize) {
        add(&self.gc_waste, free as u64);
    }

    /// Counts a buffer kept, whose pending object goes outside. That object is also counted
    /// [outside](Self::outside).
    #[inline]
    pub(crate) fn kept(&self) {
        add(&self.slow_allocations, 1);
    }

    /// Counts an object of `bytes` allocated outside a buffer.
    #[inline]
    pub(crate) fn outside(&self, bytes: usize) {
        add(&self.outside_allocations, 1);
        add(&self.outside_bytes, bytes as u64);
    }

    /// Counts a compare-and-exchange loop on a region's top: `attempts`, and whether the last one
    /// succeeded.
    #[inline]
    pub(crate) fn compare_exchange(&self, attempts: u64, succeeded: bool) {
        add(&self.compare_exchange_attempts, attempts);
        add(&self.compare_exchange_successes, u64::from(succeeded));
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

#[cfg(all(test, not(loom)))]
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
    fn every_event_lands_in_its_fields() {
        let counters = StripedCounters::default();
        counters.refilled(16 << 10);
        counters.refilled(32 << 10);
        counters.filled(300);
        counters.filled(8);
        counters.dropped(24);
        counters.retired(1000);
        counters.kept();
        counters.outside(4096);
        counters.compare_exchange(3, true);
        counters.compare_exchange(2, false);
        let expected = TlabStatistics {
            refills: 2,
            slow_allocations: 1,
            refill_waste: 24,
            gc_waste: 1000,
            allocated: 48 << 10,
            inside_bytes: 308,
            outside_allocations: 1,
            outside_bytes: 4096,
            compare_exchange_attempts: 5,
            compare_exchange_successes: 1,
        };
        assert_eq!(counters.read(), expected);
    }

    #[test]
    fn a_reader_sums_what_owners_wrote_and_never_sees_a_count_fall() {
        const REFILLS: u64 = 20_000;
        let stripes: [StripedCounters; 3] = Default::default();
        let sum = || {
            let mut totals = TlabTotals::default();
            stripes.iter().for_each(|stripe| totals.add(&stripe.read()));
            totals
        };
        std::thread::scope(|scope| {
            for stripe in &stripes {
                scope.spawn(|| (0..REFILLS).for_each(|_| stripe.refilled(64)));
            }
            let mut before = sum();
            while before.sum.refills < 3 * REFILLS {
                let now = sum();
                assert!(now.sum.refills >= before.sum.refills && now.sum.allocated >= before.sum.allocated);
                before = now;
            }
        });
        assert_eq!((sum().sum.allocated, sum().max.refills, sum().threads), (3 * REFILLS * 64, REFILLS, 3));
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
