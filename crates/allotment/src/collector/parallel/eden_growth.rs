//! Growth of eden for threads that come, without a stop.
//!
//! Eden is made for the threads there are. When hundreds come at once it is full at once. A stop,
//! though it collected nothing, then waited for threads that had lost their CPU in the midst of
//! something: in a storm of 500 threads up to 400 of them waited for 2 to 12 ms with their first
//! operation. But eden can grow without a stop. How large it may be is written in the stopped world and
//! read by a mutator that finds it full; the numbers that change do so by a maximum, whichever thread
//! comes first and however often.
//!
//! Refused: to grow when a thread attaches (one that never allocates would cost the others their
//! caches); a lock (a thread that loses its CPU while it has the lock holds up the others again).

use crate::collector::record::EnlargedEden;
use crate::collector::sizing::{self, Decision, Machine};
use crate::mutator::Shared;
use crate::sync::{AtomicUsize, Ordering};

/// What eden is, and what it may become before the next collection: `eden <= max(decided, most)`.
pub(super) struct EdenGrowth {
    settings: sizing::Settings,
    machine: Machine,
    /// Regions in use when eden was empty. Written in the stopped world; Relaxed, as all of them: a mutator that reads them was
    /// stopped meanwhile, or attached later.
    in_use: AtomicUsize,
    /// Regions that eden was decided to have. Written in the stopped world.
    decided: AtomicUsize,
    /// Regions that eden may have. Written in the stopped world, and made larger by mutators.
    eden: AtomicUsize,
    /// The most threads that it was made larger for. As above.
    threads: AtomicUsize,
    /// Regions that eden may grow to: what the goal for pauses allows, and none where a full collection comes next. Written in
    /// the stopped world.
    most: AtomicUsize,
}

impl EdenGrowth {
    pub(super) fn new(settings: sizing::Settings, machine: Machine) -> EdenGrowth {
        let [in_use, decided, eden, threads, most] = std::array::from_fn(|_| AtomicUsize::new(0));
        EdenGrowth { settings, machine, in_use, decided, eden, threads, most }
    }

    /// Eden is empty, and so many regions are in use. In the stopped world, or while no thread is attached.
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

    /// What it became while threads ran, if it did. In the stopped world.
    pub(super) fn enlarged(&self) -> Option<EnlargedEden> {
        let regions = (self.decided.load(Ordering::Relaxed), self.eden_regions());
        let threads = self.threads.load(Ordering::Relaxed);
        (regions.0 < regions.1).then_some(EnlargedEden { regions, threads })
    }

    /// Lets eden be as large as so many threads need, while they run; its regions, if that is more than
    /// before. `keep` says how many regions may be in use, of those in use before eden and those of eden.
    pub(super) fn enlarge(
        &self,
        shared: &Shared,
        threads: usize,
        keep: impl FnOnce(usize, usize) -> usize,
    ) -> Option<usize> {
        let (free, eden) = (&shared.free, self.eden_regions());
        let least =
            sizing::least_eden(&self.settings, &self.machine, threads).min(self.most.load(Ordering::Relaxed));
        let room = || free.free_regions() / 4;
        let least = if least > eden { least.min(room()) } else { 0 };
        if least <= eden {
            return None;
        }
        // First, so that a thread that comes too late to be the one that enlarged it finds room.
        // Not where others did it meanwhile, and filled it.
        if free.capacity() < self.in_use() + least {
            free.raise_capacity(keep(self.in_use(), least));
        }
        shared.budget.raise_capacity(least << free.table().geometry().region_shift);
        let first = self.eden.fetch_max(least, Ordering::Relaxed) < least;
        if first {
            self.threads.fetch_max(threads, Ordering::Relaxed);
        }
        first.then_some(least)
    }
}
