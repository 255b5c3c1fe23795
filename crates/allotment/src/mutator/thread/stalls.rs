//! Allocations that had to wait for a collection.
//!
//! Only a thread that found no room counts here, after the collection. So the counters are the
//! heap's, and not each thread's own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many allocations found no room and waited for a collection, and how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stalls {
    /// Times that a thread found no room, and collected itself or waited for another thread that
    /// did. One allocation may count several times.
    pub count: u64,
    /// The time until the thread went on, of all threads together. Threads that wait for the same
    /// collection all count, so this may be more than the time that has passed.
    pub time: Duration,
}

/// The stalls of one heap.
#[derive(Debug, Default)]
pub(crate) struct StallCounters {
    /// Any thread. Relaxed: a count.
    count: AtomicU64,
    /// In ns. Any thread. Relaxed: a sum.
    time_ns: AtomicU64,
}

impl StallCounters {
    /// Counts a stall.
    pub(in crate::mutator) fn record(&self, time: Duration) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.time_ns.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The stalls so far. The two numbers need not be of the same instant.
    pub(crate) fn read(&self) -> Stalls {
        let time = Duration::from_nanos(self.time_ns.load(Ordering::Relaxed));
        Stalls { count: self.count.load(Ordering::Relaxed), time }
    }
}
