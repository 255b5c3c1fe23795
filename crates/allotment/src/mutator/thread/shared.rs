//! The state that all mutators of a heap share: the free set, the policy's settings, the budget,
//! the registry.
//!
//! No part of it is written by every thread at a refill. The free set is written per core, the
//! registry at attach and detach, the budget when a thread's size changes.

use super::barrier_calls::BarrierCalls;
use super::satb::SatbQueue;
use super::stalls::StallCounters;
use super::stopping::is_stopping_that;
use crate::mutator::roots::Roots;
use crate::mutator::sampling::Sampler;
use crate::mutator::{Collector, GcOverhead, Mutator, OutOfMemory, Registry, ZealSchedule};
use crate::object::{EarlyTypes, Shapes, fill};
use crate::platform::topology::Topology;
use crate::platform::{Clock, ProcessMark, Reservation, current_cpu};
use crate::region::{Backing, CardTable, FreeSet};
use crate::sync::{Mutex, MutexGuard};
use crate::timeline::Timeline;
use crate::tlab::budget::{Budget, Settlement};
use crate::tlab::sizing::{Config, Sizing};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Releases memory if it can, and returns whether it did. See
/// [`HeapBuilder::on_heap_limit`](crate::heap::HeapBuilder::on_heap_limit).
pub(crate) type HeapLimitHook = Arc<dyn Fn(&OutOfMemory) -> bool + Send + Sync>;

/// Called by a thread whose allocation fails, before it goes on.
pub(crate) type OutOfMemoryHook = Arc<dyn Fn(&mut Mutator<'_>, &OutOfMemory) + Send + Sync>;

/// The part of a heap that its threads work with.
pub(crate) struct Shared {
    /// Whether this process is the one that the heap knows: [`after_fork`](Self::after_fork).
    pub(crate) process: ProcessMark,
    pub(crate) free: FreeSet<Committer>,
    /// The cards of written slots, kept with every collector.
    pub(crate) cards: CardTable,
    pub(crate) shapes: Shapes,
    pub(crate) early_types: EarlyTypes,
    pub(crate) sizing: Config,
    pub(crate) budget: Budget,
    pub(crate) registry: Registry,
    pub(crate) roots: Roots,
    pub(crate) collector: Box<dyn Collector>,
    /// Called when a collection did not help. Returns whether it released something.
    pub(crate) on_heap_limit: Option<HeapLimitHook>,
    pub(crate) on_out_of_memory: Option<OutOfMemoryHook>,
    pub(crate) topology: Topology,
    pub(crate) clock: Clock,
    /// `UseTLAB`.
    pub(crate) use_tlab: bool,
    /// `ZeroTLAB`.
    pub(crate) zero_tlab: bool,
    /// `ZeroWindowSize`, in bytes.
    pub(crate) zero_window: usize,
    /// Limit in bytes for recycling the last regions first. Of more bytes than this, too little is
    /// in the caches.
    pub(crate) hot_bytes: usize,
    pub(crate) zeal: ZealSchedule,
    /// Full collections so far. The thread that does a full collection counts it, while the world
    /// is stopped. Relaxed: a thread that compares two readings stood still in between.
    pub(crate) full_collections: AtomicU64,
    /// Allocations that had to wait for a collection.
    pub(crate) stalls: StallCounters,
    /// The barriers that all threads take over, as bits of [`Hot`](super::Hot). Written in stops.
    /// Relaxed: a reader has left that stop, or holds the registry's lock.
    pub(crate) barriers: AtomicU32,
    /// How many visits of the threads' roots were begun. Written in stops. Relaxed, as above.
    pub(crate) root_visits: AtomicU64,
    /// The slow paths of barriers, for generated code. Each thread's hot part has them.
    pub(crate) barrier_calls: BarrierCalls,
    /// The words that slots held before they were overwritten while the collector marks.
    pub(crate) satb: SatbQueue,
    /// The samples of what threads allocate.
    pub(crate) sampler: Sampler,
    /// `Timeline`.
    pub(crate) timeline: Option<Arc<Timeline>>,
    /// Held while the world is stopped. Also held by a thread that takes regions from the heap
    /// without being one of its threads. A collector relies on the set of regions that it found.
    pub(crate) regions: Mutex<()>,
}

impl Shared {
    /// The barriers that all threads take over.
    pub(crate) fn barriers(&self) -> u32 {
        self.barriers.load(Ordering::Relaxed)
    }

    /// How many visits of the threads' roots were begun.
    pub(in crate::mutator) fn root_visits(&self) -> u64 {
        self.root_visits.load(Ordering::Relaxed)
    }

    /// Keeps collections away from the regions, or waits for the end of one. `None` if this thread
    /// has stopped the world itself.
    pub(crate) fn keep_regions(&self) -> Option<MutexGuard<'_, ()>> {
        (!is_stopping_that(&self.registry)).then(|| self.lock_regions())
    }

    pub(in crate::mutator) fn lock_regions(&self) -> MutexGuard<'_, ()> {
        self.regions.lock().expect("what panics in the stopped world ends the process")
    }

    /// The core that the caller runs on, in the numbering of the free set.
    pub(crate) fn home(&self) -> usize {
        match self.free.homes() {
            1 => 0,
            homes => {
                let core = self.topology.dense_index(current_cpu());
                // A division costs as much as the rest of this function.
                if core < homes { core } else { core % homes }
            }
        }
    }

    pub(in crate::mutator) fn region_bytes(&self) -> usize {
        self.free.table().geometry().region_bytes()
    }

    pub(in crate::mutator) fn same_region(&self, one: usize, other: usize) -> bool {
        self.free.table().index_of(one) == self.free.table().index_of(other)
    }

    /// Lets the budget decide on a thread's size before the thread refills. Returns the time of the
    /// decision in ms.
    pub(in crate::mutator) fn settle(&self, sizing: &mut Sizing) -> u64 {
        let now_ms = self.clock.coarse_ms();
        if self.budget.settle(&self.sizing, sizing, now_ms) == Settlement::RunCensus {
            self.run_census(now_ms);
        }
        now_ms
    }

    #[cold]
    fn run_census(&self, now_ms: u64) {
        self.after_fork_or_abort();
        self.registry.census(|threads| self.budget.census(threads, now_ms));
    }

    /// Covers the unused memory `[start, end)`, and lets another thread on this core find it.
    pub(in crate::mutator) fn cover_rest(&self, start: usize, end: usize) {
        if start < end {
            // SAFETY: the range is the rest of a piece that the caller took.
            unsafe { fill(start, end) };
            self.free.give_spare(self.home(), start, end);
        }
    }

    /// Whether the embedder released something, so that another attempt may succeed.
    pub(in crate::mutator) fn at_heap_limit(&self, error: &OutOfMemory) -> bool {
        let released = self.on_heap_limit.as_ref().is_some_and(|hook| hook(error));
        if released {
            self.collector.embedder_let_go();
        }
        released
    }

    /// Whether a collection of another thread exceeded the limit on overhead since `before` was
    /// read, and its numbers. That result holds for all threads that stood still. `None` if there
    /// is a heap-limit hook: one of those threads may be asking it to release something.
    pub(in crate::mutator) fn over_limit_since(
        &self,
        before: Option<(u64, GcOverhead)>,
    ) -> Option<GcOverhead> {
        let now = self.collector.over_limit();
        if now == before || self.on_heap_limit.is_some() { None } else { now.map(|(_, overhead)| overhead) }
    }

    pub(in crate::mutator) fn out_of_memory(&self, bytes: usize) -> OutOfMemory {
        let heap_bytes = self.free.table().geometry().heap_bytes();
        OutOfMemory::new(bytes, heap_bytes, self.free.commit_failures() > 0)
    }
}

/// Commits regions in the heap's reservation.
pub(crate) struct Committer {
    pub(crate) reservation: Reservation,
    pub(crate) region_bytes: usize,
    /// Bytes made writable at a time, a power of two. This is a region, or a huge page if that is
    /// larger and huge pages are asked for. The kernel gives no huge page to a mapping that is
    /// smaller than one.
    pub(crate) granule: usize,
    /// `AlwaysPreTouch`.
    pub(crate) pre_touch: bool,
}

impl Backing for Committer {
    fn commit(&self, index: usize) -> bool {
        let offset = index * self.region_bytes;
        let start = offset & !(self.granule - 1);
        let bytes = self.granule.min(self.reservation.bytes() - start);
        if self.reservation.commit(start, bytes).is_err() {
            return false;
        }
        let touched = !self.pre_touch || self.reservation.pretouch(offset, self.region_bytes, 1).is_ok();
        if !touched {
            // The system has fewer pages than it promised. Nothing is lost by giving the promise
            // back.
            let _ = self.reservation.uncommit(offset, self.region_bytes);
        }
        touched
    }

    fn uncommit(&self, index: usize) -> bool {
        self.reservation.uncommit(index * self.region_bytes, self.region_bytes).is_ok()
    }
}
