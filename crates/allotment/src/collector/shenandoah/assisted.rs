//! Counts of the help of mutators for the cycle that is under way. They help in `assist.rs`.

use crate::collector::concurrent::Found;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, POISONED};
use std::time::Duration;

/// A cycle is behind when less than one part in this many of the memory that was free at its begin
/// is left.
const BEHIND: usize = 3;

/// The counts of slices.
#[derive(Default)]
pub(super) struct Assisted {
    /// Free regions when the cycle began; 0 while no cycle is under way. Written by the thread that
    /// begins or ends a cycle. Relaxed: a hint.
    free_at_begin: AtomicUsize,
    /// Slices. Written by each mutator that begins one. Relaxed: a count.
    slices: AtomicU64,
    /// The time of all slices in ns. Written by each mutator that has ended one. Relaxed: a count.
    time_ns: AtomicU64,
    found: Mutex<Found>,
}

impl Assisted {
    /// Notes that a cycle begins, with this number of free regions.
    pub(super) fn begin(&self, free_regions: usize) {
        self.free_at_begin.store(free_regions.max(1), Ordering::Relaxed);
    }

    /// Notes that the cycle has ended.
    pub(super) fn end(&self) {
        self.free_at_begin.store(0, Ordering::Relaxed);
    }

    /// Whether a cycle is under way.
    pub(super) fn has_cycle(&self) -> bool {
        self.free_at_begin.load(Ordering::Relaxed) != 0
    }

    /// Whether the cycle would end too late, with this number of regions left.
    pub(super) fn is_behind(&self, regions_left: usize) -> bool {
        regions_left * BEHIND < self.free_at_begin.load(Ordering::Relaxed)
    }

    /// Counts a slice that begins. Returns the number of slices before.
    pub(super) fn begin_slice(&self) -> u64 {
        self.slices.fetch_add(1, Ordering::Relaxed)
    }

    /// Adds the time of a slice that ends.
    pub(super) fn end_slice(&self, time: Duration) {
        self.time_ns.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The slices since the last call, and their time.
    pub(super) fn take(&self) -> (u64, Duration) {
        let time = Duration::from_nanos(self.time_ns.swap(0, Ordering::Relaxed));
        (self.slices.swap(0, Ordering::Relaxed), time)
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
