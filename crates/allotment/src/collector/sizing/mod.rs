//! All sizes of a generational, stopping collector, decided after each collection.
//!
//! [`Sizing`] turns numbers into numbers: it does not know threads, memory or a clock. So the same
//! code runs in the heap, in tests against tables, and in a simulator. Its questions, by file:
//!
//! | file | question |
//! |---|---|
//! | `eden.rs` | how much mutators may allocate, by pause, throughput and caches |
//! | `cache.rs` | whether an eden that no cache holds is worth it |
//! | `survival.rs` | how much will be copied, and what eden therefore fits |
//! | `tenuring.rs` | when an object is old |
//! | `full.rs` | whether the next collection is full, how large the heap may be |
//!
//! The files are asked in that order and do not know each other; this file passes values between
//! them.
//! Each change is a [`Reason`]. `overhead.rs` is separate, and a collector without generations uses
//! it, too. It decides whether an allocation fails because collections take nearly all of the time
//! and free nearly nothing. Refused: one policy that weighs everything at once, because a log could
//! not show its reasons.

mod cache;
mod capacity;
mod collection;
mod decision;
mod eden;
mod full;
mod overhead;
mod padded;
mod settings;
mod survival;
mod tenuring;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use capacity::Capacity;
pub(crate) use collection::{AGES, Collection, Extent};
pub(crate) use decision::{Change, Decision, Reason};
pub(crate) use eden::least_eden;
pub(crate) use overhead::{Effort, Need, OverheadLimit, OverheadSettings};
pub(crate) use settings::{Machine, SizingSettings};

use eden::Eden;
use full::{Prospect, WholeHeap};
use survival::Survival;
use tenuring::Tenuring;

/// The part of the regions that the young generation could have that may survive and stay in it.
/// HotSpot's survivors have at most a third of its young generation (MinSurvivorRatio), half of it
/// in use.
const SURVIVORS: usize = 4;

/// The rules, and their memory of the collections so far.
#[derive(Clone, Debug)]
pub(crate) struct Sizing {
    settings: SizingSettings,
    machine: Machine,
    eden: Eden,
    survival: Survival,
    tenuring: Tenuring,
    heap: WholeHeap,
}

/// The numbers that a decision begins with. All but threads and handles are numbers of regions.
#[derive(Clone, Copy, Debug)]
struct HeapState {
    /// Attached threads.
    threads: usize,
    /// Weak handles.
    weak_handles: usize,
    /// Regions of survivors.
    survivors: usize,
    /// Regions that are old or humongous.
    tenured: usize,
    /// Free regions, of all that MaxHeapSize allows.
    free: usize,
}

/// The workers that a young collection wants.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerDemand {
    /// Number of workers.
    pub workers: usize,
    /// Bytes that they are expected to copy or to scan.
    pub bytes: usize,
    /// Whether more threads want to run than there are cores.
    pub crowded: bool,
}

impl Sizing {
    /// The sizing of a heap in which nothing was collected yet.
    pub(crate) fn new(settings: SizingSettings, machine: Machine) -> Sizing {
        let region = machine.geometry.region_bytes();
        let rule = Capacity::new(settings.initial_heap_bytes, region, settings.min_free_percent);
        Sizing {
            settings,
            machine,
            eden: Eden::new(settings, machine),
            survival: Survival::new(),
            tenuring: Tenuring::new(settings.initial_tenuring_threshold, settings.max_tenuring_threshold),
            heap: WholeHeap::new(rule, machine.geometry.regions),
        }
    }

    /// The sizes of an empty heap to which this many threads will attach.
    pub(crate) fn first(&mut self, threads: usize) -> Decision {
        let free = self.machine.geometry.regions;
        self.decide(&HeapState { threads, weak_handles: 0, survivors: 0, tenured: 0, free }, Vec::new(), None)
    }

    /// The most regions that eden may have, by the goal for pauses.
    pub(crate) fn most_eden(&self) -> usize {
        self.eden.fitting()
    }

    /// The workers for a young collection of an eden of this many regions that this many threads
    /// fill.
    pub(crate) fn worker_demand(&self, eden_regions: usize, threads: usize) -> WorkerDemand {
        let Machine { cores, workers, work_bytes, .. } = self.machine;
        let bytes = self.survival.work_bytes(eden_regions, threads, &self.machine);
        let workers = (1 + bytes / work_bytes.max(1)).min(workers.max(1));
        WorkerDemand { workers, bytes, crowded: threads > cores }
    }

    /// The sizes until the next collection, after the collection `done`.
    pub(crate) fn after(&mut self, done: &Collection) -> Decision {
        let Machine { geometry, .. } = self.machine;
        let free = done.free_regions.min(geometry.regions);
        let mut reasons = Vec::new();
        match done.extent {
            Extent::Young => {
                self.eden.observe(done);
                self.survival.observe(done, &self.machine);
                self.tenuring.observe(&done.survived, done.promoted_bytes);
                self.heap.after_young(done.pause_ns, done.eden_regions);
            }
            Extent::Full => {
                self.survival.after_full();
                self.tenuring.after_full();
                // Memory of pinned objects and of the holes between them is not free, so regions
                // count, not live bytes.
                reasons.extend(self.heap.after_full(done.pause_ns, geometry.regions - free));
            }
        }
        let failure = (done.extent == Extent::Young && done.failed_bytes > 0)
            .then_some(Reason::FullAfterFailure { bytes: done.failed_bytes });
        let survivors = self.machine.regions_of(done.survivor_bytes());
        let tenured = self.machine.regions_of(done.old_bytes) + done.humongous_regions;
        let tenured = tenured.min(geometry.regions - free);
        let Collection { threads, weak_handles, .. } = *done;
        self.decide(&HeapState { threads, weak_handles, survivors, tenured, free }, reasons, failure)
    }

    fn decide(&mut self, now: &HeapState, mut reasons: Vec<Reason>, failure: Option<Reason>) -> Decision {
        let (settings, machine) = (self.settings, self.machine);
        let HeapState { survivors, free, .. } = *now;
        let workers = self.worker_demand(self.eden.wish, now.threads).workers;
        let reserve = |survival: &Survival, eden| survival.reserve(eden, &machine, workers);

        let beside = free.saturating_sub(reserve(&self.survival, self.eden.wish));
        let wish = self.eden.decide(now, beside, &mut reasons);
        let next = Prospect {
            wish,
            need: wish + reserve(&self.survival, wish),
            pause_ns: self.eden.pause_ns(),
            short_pauses: settings.pause_goal_ns != 0,
        };
        let fits = |room: usize| {
            let room = room.min(free);
            let wanted = self.eden.with_spare(survivors, room);
            self.survival.fitting(wanted, room, &machine, workers)
        };
        let full = self.heap.decide(now, next, fits, &mut reasons);
        let full = failure.or(full);

        let room = self.heap.room(free).min(free);
        // A full collection needs no memory to copy into.
        let eden_regions = match full {
            Some(_) if settings.max_new_bytes == 0 => room.max(1),
            Some(_) => room.clamp(1, wish),
            None => fits(room).max(1),
        };
        if full.is_none() && eden_regions < wish {
            reasons.push(Reason::EdenLimited {
                regions: Change { from: wish, to: eden_regions },
                limit: "room",
            });
        }
        if full.is_none() && eden_regions > wish {
            reasons.push(Reason::EdenTakesSpare { regions: Change { from: wish, to: eden_regions }, room });
        }
        let limit = self.survivor_limit(free + survivors);
        let (live, headroom) = (self.heap.base, self.heap.headroom);
        // Before the first full collection: the proportions of a heap that is half free.
        let old_cost = tenuring::old_cost(if live == 0 { headroom } else { live }, headroom);
        reasons.extend(self.tenuring.decide(old_cost, self.survival.survivors_bytes(), limit));
        let full = full.map(|reason| reasons.push(reason)).is_some();
        Decision {
            eden_regions,
            capacity_regions: self.heap.capacity,
            tenuring_threshold: self.tenuring.threshold,
            full,
            survivor_limit_bytes: limit,
            reasons,
        }
    }

    /// Bytes that may stay young, if this many regions are free or have survivors.
    fn survivor_limit(&self, regions: usize) -> usize {
        let young = match self.settings.max_new_bytes {
            0 => regions,
            bytes => regions.min(self.machine.regions_of(bytes)),
        };
        (young / SURVIVORS).max(1) * self.machine.geometry.region_bytes()
    }
}
