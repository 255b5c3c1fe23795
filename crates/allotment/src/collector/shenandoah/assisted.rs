//! Counts of the help and the waits of mutators for the cycle that is under way. They help and wait
//! in `assist.rs`.

use crate::collector::concurrent::Found;
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering, POISONED};
use std::time::Duration;

/// The counts of slices and waits.
#[derive(Default)]
pub(super) struct Assisted {
    /// Whether a cycle is under way. Written by the thread that begins or ends a cycle. Relaxed: a
    /// hint.
    has_cycle: AtomicBool,
    /// Slices. Written by each mutator that begins one. Relaxed: a count.
    slices: AtomicU64,
    /// The time of all slices in ns. Written by each mutator that has ended one. Relaxed: a count.
    time_ns: AtomicU64,
    /// Waits. Written by each mutator that has waited. Relaxed: a count.
    waits: AtomicU64,
    /// The time of all waits in ns, and of the longest. Written as `waits`. Relaxed: a sum, and a
    /// maximum.
    waits_ns: AtomicU64,
    longest_ns: AtomicU64,
    found: Mutex<Found>,
}

/// The counts of a cycle.
pub(super) struct AssistCounts {
    pub(super) slices: u64,
    pub(super) slice_time: Duration,
    pub(super) waits: u64,
    pub(super) wait_time: Duration,
    pub(super) longest_wait: Duration,
}

impl Assisted {
    /// Notes that a cycle begins.
    pub(super) fn begin(&self) {
        self.has_cycle.store(true, Ordering::Relaxed);
    }

    /// Notes that the cycle has ended.
    pub(super) fn end(&self) {
        self.has_cycle.store(false, Ordering::Relaxed);
    }

    /// Whether a cycle is under way.
    pub(super) fn has_cycle(&self) -> bool {
        self.has_cycle.load(Ordering::Relaxed)
    }

    /// Counts a slice that begins. Returns the number of slices before.
    pub(super) fn begin_slice(&self) -> u64 {
        self.slices.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds the time of a slice that ends.
    pub(super) fn end_slice(&self, time: Duration) {
        self.time_ns.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Counts a wait that has ended.
    pub(super) fn waited(&self, time: Duration) {
        let ns = time.as_nanos() as u64;
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.waits_ns.fetch_add(ns, Ordering::Relaxed);
        self.longest_ns.fetch_max(ns, Ordering::Relaxed);
    }

    /// The counts since the last call.
    pub(super) fn take(&self) -> AssistCounts {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        AssistCounts {
            slices: take(&self.slices),
            slice_time: Duration::from_nanos(take(&self.time_ns)),
            waits: take(&self.waits),
            wait_time: Duration::from_nanos(take(&self.waits_ns)),
            longest_wait: Duration::from_nanos(take(&self.longest_ns)),
        }
    }

    /// Adds the counts of a slice of marking.
    pub(super) fn add_found(&self, found: Found) {
        self.found.lock().expect(POISONED).add(found);
    }

    /// The counts of marking since the last call.
    pub(super) fn take_found(&self) -> Found {
        std::mem::take(&mut *self.found.lock().expect(POISONED))
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.found.try_lock().is_ok()
    }
}
