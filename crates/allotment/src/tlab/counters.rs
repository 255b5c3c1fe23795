//! The counts of a running thread: its owner writes them, any thread may read them.
//!
//! The heap's statistics are striped: each mutator has a stripe of its own, and a reader sums the
//! stripes. Since only one thread writes a stripe, adding is a load and a store. An atomic addition
//! would lock the line for no other thread.
//!
//! Refused: counters shared by all threads. A shared counter on the refill path costs more than the
//! refill (JDK-8387806 met that in HotSpot).

use super::statistics::TlabStatistics;
use crate::sync::{AtomicU64, Ordering};

/// One mutator's stripe of the heap's counters.
///
/// Only the owning mutator may call the methods that count, or a thread that acts for it while it
/// is stopped. Two callers at once would lose counts and nothing else. Any thread may call
/// [`read`](Self::read) at any time. Each field is then a value that the field had, but the fields
/// need not be of the same instant.
#[derive(Debug, Default)]
pub(crate) struct StripedCounters {
    refills: AtomicU64,
    slow_allocations: AtomicU64,
    refill_waste: AtomicU64,
    gc_waste: AtomicU64,
    allocated: AtomicU64,
    inside_bytes: AtomicU64,
    outside_allocations: AtomicU64,
    outside_bytes: AtomicU64,
    compare_exchange_attempts: AtomicU64,
    compare_exchange_successes: AtomicU64,
}

/// Adds without a locked instruction: only the owner writes.
#[inline]
fn add(counter: &AtomicU64, more: u64) {
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

    /// The counts so far.
    #[must_use]
    pub(crate) fn read(&self) -> TlabStatistics {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        TlabStatistics {
            refills: read(&self.refills),
            slow_allocations: read(&self.slow_allocations),
            refill_waste: read(&self.refill_waste),
            gc_waste: read(&self.gc_waste),
            allocated: read(&self.allocated),
            inside_bytes: read(&self.inside_bytes),
            outside_allocations: read(&self.outside_allocations),
            outside_bytes: read(&self.outside_bytes),
            compare_exchange_attempts: read(&self.compare_exchange_attempts),
            compare_exchange_successes: read(&self.compare_exchange_successes),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::statistics::TlabTotals;
    use super::*;

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
}
