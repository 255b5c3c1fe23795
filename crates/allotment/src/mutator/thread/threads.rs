//! The threads of a heap: who is attached, what they keep alive, and what they record for a
//! collector.

use super::satb::SatbQueue;
use super::stalls::StallCounters;
use crate::mutator::Registry;
use crate::mutator::roots::Roots;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What a heap knows of its threads.
pub(crate) struct Threads {
    pub(crate) registry: Registry,
    pub(crate) roots: Roots,
    /// Full collections so far. The thread that does a full collection counts it, while the world
    /// is stopped. Relaxed: a thread that compares two readings stood still in between.
    pub(crate) full_collections: AtomicU64,
    /// Allocations that had to wait for a collection.
    pub(crate) stalls: StallCounters,
    /// The barriers that all threads take over, as bits of [`Hot`](super::Hot). Written in stops.
    /// Relaxed: a reader has left that stop, or holds the registry's lock, or has held that lock
    /// since the stop, when it came back from `blocking`.
    pub(crate) barriers: AtomicU32,
    /// How many visits of the threads' roots were begun. Written in stops. Relaxed, as above.
    pub(crate) root_visits: AtomicU64,
    /// How many of these visits were ended in full stops, for all threads. Written in stops.
    /// Relaxed, as above.
    pub(crate) root_visits_ended: AtomicU64,
    /// The words that slots held before they were overwritten while the collector marks.
    pub(crate) satb: SatbQueue,
}

impl Threads {
    /// The threads of a new heap: none.
    pub(crate) fn new(registry: Registry) -> Threads {
        Threads {
            registry,
            roots: Roots::default(),
            full_collections: AtomicU64::new(0),
            stalls: StallCounters::default(),
            barriers: AtomicU32::new(0),
            root_visits: AtomicU64::new(0),
            root_visits_ended: AtomicU64::new(0),
            satb: SatbQueue::default(),
        }
    }

    /// The barriers that all threads take over.
    pub(crate) fn barriers(&self) -> u32 {
        self.barriers.load(Ordering::Relaxed)
    }

    /// Sets the barriers that threads take over, and those of handles and pins. In a stop.
    pub(in crate::mutator) fn set_barriers(&self, bits: u32) {
        self.barriers.store(bits, Ordering::Relaxed);
        self.roots.set_barriers(bits);
    }

    /// How many visits of the threads' roots were begun.
    pub(in crate::mutator) fn root_visits(&self) -> u64 {
        self.root_visits.load(Ordering::Relaxed)
    }

    /// Whether a thread whose last visit of roots has this number was visited since the last visit
    /// began, or a full stop has ended that visit.
    pub(in crate::mutator) fn was_visited(&self, visited: u64) -> bool {
        let wanted = self.root_visits();
        visited == wanted || self.root_visits_ended.load(Ordering::Relaxed) == wanted
    }
}
