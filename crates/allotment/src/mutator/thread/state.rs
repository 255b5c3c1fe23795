//! The state that a heap keeps for each attached thread.

use super::debt::Debt;
use super::hot::Hot;
use super::private::Private;
use super::sampling::{Followed, Sampling};
use super::satb::SatbBuffer;
use super::shared::Shared;
use crate::mutator::OutOfMemory;
use crate::mutator::roots::{LinkEntry, OUTSIDE, lock_roots};
use crate::mutator::safepoint::{Place, Status, ThreadIdentity};
use crate::mutator::zeal::Zeal;
use crate::random::Random;
use crate::sync::{Mutex, MutexGuard};
use crate::tlab::budget::CensusEntry;
use crate::tlab::sizing::Sizing;
use crate::tlab::statistics::{StripedCounters, TlabStatistics};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The state of one mutator. The hot part comes first, because a mutator is a pointer to it.
#[repr(C)]
pub(in crate::mutator) struct State {
    pub(in crate::mutator) hot: Hot,
    /// The heap. Never changes.
    pub(in crate::mutator) shared: Arc<Shared>,
    /// The list `hot.links` while the thread is in a blocking region. It then changes under `visited`.
    pub(in crate::mutator) parked: Cell<LinkEntry>,
    /// The number of the last visit of the thread's roots that was done. Locked by the thread that
    /// makes that visit, by a thread that walks the list of a thread in a blocking region, and by
    /// the owner when it changes the list there.
    pub(in crate::mutator) visited: Mutex<u64>,
    /// Words of slots that the thread overwrote while the collector marks. Owner only.
    pub(in crate::mutator) satb: SatbBuffer,
    /// The generator of identity hashes. Owner only.
    pub(in crate::mutator) hashes: Random,
    /// Whether the thread runs. The owner and stoppers use it.
    pub(in crate::mutator) status: Status,
    /// The thread's identity. Never changes.
    pub(in crate::mutator) identity: ThreadIdentity,
    /// Whether a body runs with the thread's mutator, or a function that generated code called.
    /// Owner only.
    pub(in crate::mutator) inside: Cell<bool>,
    /// Why generated code got null from the heap last, until somebody takes it. Owner only.
    pub(in crate::mutator) out_of_memory: Cell<Option<OutOfMemory>>,
    /// Safepoints reached. Owner only, as are all following fields unless stated otherwise. The
    /// stopper uses them too while the owner is held.
    pub(in crate::mutator) safepoints: Cell<u64>,
    /// The thread's position in the schedule of zeal. Owner only.
    pub(in crate::mutator) zeal: Zeal,
    /// The work that the thread owes a concurrent collector. Owner only.
    pub(in crate::mutator) debt: Cell<Debt>,
    /// Whether the thread settles its debt at its next safepoint. Owner only.
    pub(in crate::mutator) settles: Cell<bool>,
    /// The thread's next sampling point, and its samples. Owner only.
    pub(in crate::mutator) sampling: Sampling,
    /// The sizing policy's data about this thread, and the rest of the cold state. Owner only.
    pub(in crate::mutator) owned: RefCell<Owned>,
    /// The values that a census reads. The owner writes, other threads read.
    pub(in crate::mutator) published: Published,
    /// Counts of the thread's buffers. The owner writes, other threads read. Relaxed.
    pub(in crate::mutator) counters: StripedCounters,
    /// The counters when the last cycle ended. Used by the thread that ends a cycle, and by the
    /// owner when it detaches.
    pub(in crate::mutator) counted: Cell<TlabStatistics>,
    /// The thread's place among the threads of the heap.
    pub(in crate::mutator) place: Place,
}

/// The part of the state that only the owner uses.
pub(in crate::mutator) struct Owned {
    pub(in crate::mutator) sizing: Sizing,
    /// Bytes that the thread allocated in the last complete cycle, in buffers and outside.
    pub(in crate::mutator) allocated_in_cycle: u64,
    /// The regions this thread fills alone, once it has taken a mark.
    pub(in crate::mutator) private: Option<Private>,
    /// How often those regions were given to all threads. A mark from before that is invalid.
    pub(in crate::mutator) dissolved: u64,
    /// Sampled objects in those regions. The heap follows them when the regions are everyone's:
    /// until then they may be recycled.
    pub(in crate::mutator) sampled: Followed,
}

impl Owned {
    /// Gives the thread's own regions to all threads, and forgets them.
    pub(in crate::mutator) fn dissolve(&mut self, shared: &Shared) {
        if let Some(mut private) = self.private.take() {
            private.release(&shared.space);
            self.dissolved += 1;
            self.sampled.hand_over(shared);
        }
    }
}

/// A [`CensusEntry`] that other threads may read while its thread runs. Relaxed: each value is a
/// hint.
#[derive(Default)]
pub(in crate::mutator) struct Published {
    /// Bytes of the buffer that the thread asks for, a multiple of 8, plus 1 if the thread is a
    /// grower.
    size: AtomicUsize,
    /// When the thread last took a buffer, in ms of the heap's clock.
    last_refill_ms: AtomicU64,
}

impl Published {
    pub(in crate::mutator) fn publish(&self, sizing: &Sizing) {
        let size = sizing.desired_size + usize::from(sizing.grower);
        // Reads first: the value rarely changes, and a store at every refill would dirty the cache
        // line.
        if self.size.load(Ordering::Relaxed) != size {
            self.size.store(size, Ordering::Relaxed);
        }
        if self.last_refill_ms.load(Ordering::Relaxed) != sizing.last_refill_ms {
            self.last_refill_ms.store(sizing.last_refill_ms, Ordering::Relaxed);
        }
    }

    pub(in crate::mutator) fn read(&self) -> CensusEntry {
        let size = self.size.load(Ordering::Relaxed);
        CensusEntry {
            size: size & !1,
            last_refill_ms: self.last_refill_ms.load(Ordering::Relaxed),
            grower: size & 1 != 0,
        }
    }
}

impl State {
    /// The state of the `thread`-th thread that attaches.
    pub(in crate::mutator) fn new(shared: Arc<Shared>, sizing: Sizing, thread: u64) -> State {
        let concurrent = shared.collector.concurrent();
        let tables = concurrent.map(|collector| collector.barrier_tables(&shared.space));
        State {
            hot: Hot::new(shared.space.cards.biased(), tables.unwrap_or_default()),
            parked: Cell::new(ptr::null_mut()),
            visited: Mutex::new(0),
            satb: SatbBuffer::default(),
            // Seeds that are far apart on the way of the generator.
            hashes: Random::new(thread << 32),
            status: Status::default(),
            identity: ThreadIdentity::current(),
            inside: Cell::new(false),
            out_of_memory: Cell::new(None),
            safepoints: Cell::new(0),
            zeal: Zeal::new(shared.policy.zeal, thread),
            debt: Cell::default(),
            settles: Cell::new(false),
            sampling: Sampling::new(shared.watch.sampler.seed, thread),
            owned: RefCell::new(Owned {
                sizing,
                allocated_in_cycle: 0,
                private: None,
                dissolved: 0,
                sampled: Followed::default(),
            }),
            published: Published::default(),
            counters: StripedCounters::default(),
            counted: Cell::default(),
            place: Place::default(),
            shared,
        }
    }

    /// The roots in the thread's frames, innermost first. To be called while the thread is stopped,
    /// or held in a blocking region.
    pub(in crate::mutator) fn roots(&self) -> LinkEntry {
        match self.hot.links.get() {
            OUTSIDE => self.parked.get(),
            head => head,
        }
    }

    /// Locks the list of a thread in a blocking region.
    pub(in crate::mutator) fn lock_roots(&self) -> MutexGuard<'_, u64> {
        lock_roots(&self.visited, "a thread panicked while it changed a list of roots")
    }

    /// Sets the limits from the buffer and the sampling point.
    pub(in crate::mutator) fn arm(&self) {
        self.hot.arm(if self.zeal.is_on() { 0 } else { self.sampling.point.get() });
        if cfg!(debug_assertions) {
            self.hot.verify();
        }
    }
}
