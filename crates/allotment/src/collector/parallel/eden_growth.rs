//! Growth of eden for arriving threads, without a stop.
//!
//! Eden is made for the threads that are attached. When hundreds arrive at once, eden is full at
//! once. A stop that collects nothing still waited for threads that had lost their CPU in
//! mid-operation: in a storm of 500 threads, up to 400 of them waited 2 to 12 ms for their first
//! operation. But eden can grow without a stop. The stopped world writes the largest allowed size,
//! and a mutator that finds eden full reads it. The changing numbers grow by an atomic maximum, so
//! neither the order nor the number of the threads matters.
//!
//! Refused: growth when a thread attaches (a thread that never allocates would cost the others
//! their caches). Refused: a lock (a thread that loses its CPU with the lock held delays the others
//! again).

use crate::collector::record::EnlargedEden;
use crate::collector::sizing::{Change, Decision, Machine, SizingSettings, least_eden};
use crate::region::FreeSet;
use crate::sync::{AtomicUsize, Ordering};
use crate::tlab::budget::Budget;

/// The size of eden, and its limit until the next collection: `eden <= max(decided, most)`.
pub(super) struct EdenGrowth {
    settings: SizingSettings,
    machine: Machine,
    /// Regions in use when eden was empty. Written in the stopped world. Relaxed, as all of these
    /// fields: a mutator that reads them was stopped meanwhile, or attached later.
    in_use: AtomicUsize,
    /// Regions that eden was decided to have. Written in the stopped world.
    decided: AtomicUsize,
    /// Regions that eden may have. Written in the stopped world, and raised by mutators.
    eden: AtomicUsize,
    /// The most threads for which eden was enlarged. Written in the stopped world, and raised by
    /// mutators.
    threads: AtomicUsize,
    /// Regions that eden may grow to: as many as the goal for pauses allows, and none if a full
    /// collection comes next. Written in the stopped world.
    most: AtomicUsize,
}

impl EdenGrowth {
    pub(super) fn new(settings: SizingSettings, machine: Machine) -> EdenGrowth {
        let [in_use, decided, eden, threads, most] = std::array::from_fn(|_| AtomicUsize::new(0));
        EdenGrowth { settings, machine, in_use, decided, eden, threads, most }
    }

    /// Begins with an empty eden while `in_use` regions are in use. In the stopped world, or while
    /// no thread is attached.
    pub(super) fn begin(&self, in_use: usize, decision: &Decision, most: usize) {
        self.in_use.store(in_use, Ordering::Relaxed);
        self.decided.store(decision.eden_regions, Ordering::Relaxed);
        self.eden.store(decision.eden_regions, Ordering::Relaxed);
        self.threads.store(0, Ordering::Relaxed);
        self.most.store(if decision.full { 0 } else { most }, Ordering::Relaxed);
    }

    /// Regions in use when eden was empty.
    pub(super) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }

    /// Regions that eden may have.
    pub(super) fn eden_regions(&self) -> usize {
        self.eden.load(Ordering::Relaxed)
    }

    /// The growth of eden while threads ran, if it grew. In the stopped world.
    pub(super) fn enlarged(&self) -> Option<EnlargedEden> {
        let regions = Change { from: self.decided.load(Ordering::Relaxed), to: self.eden_regions() };
        let threads = self.threads.load(Ordering::Relaxed);
        (regions.from < regions.to).then_some(EnlargedEden { regions, threads })
    }

    /// Lets eden be as large as this many threads need, while they run. Returns its regions, if
    /// these are more than before. `keep` gets the regions in use before eden and those of eden,
    /// and returns how many regions may be in use.
    pub(super) fn enlarge(
        &self,
        free: &FreeSet,
        budget: &Budget,
        threads: usize,
        keep: impl FnOnce(usize, usize) -> usize,
    ) -> Option<usize> {
        let eden = self.eden_regions();
        let wanted = least_eden(&self.settings, &self.machine, threads, 0);
        let least = wanted.min(self.most.load(Ordering::Relaxed));
        if least <= eden {
            return None;
        }
        let least = least.min(free.free_regions() / 4);
        if least <= eden {
            return None;
        }
        // First, so that a thread that comes too late to be the one that enlarged eden finds room.
        // Skipped where other threads have enlarged eden meanwhile and filled it.
        if free.capacity() < self.in_use() + least {
            free.raise_capacity(keep(self.in_use(), least));
        }
        budget.raise_capacity(least << free.table().geometry().region_shift);
        if self.eden.fetch_max(least, Ordering::Relaxed) >= least {
            return None;
        }
        self.threads.fetch_max(threads, Ordering::Relaxed);
        Some(least)
    }
}
