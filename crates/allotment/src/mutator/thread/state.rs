//! What a heap keeps of an attached thread.

use super::hot::Hot;
use super::private::Private;
use super::sampling::Sampling;
use super::shared::Shared;
use crate::mutator::roots::{Entry, OUTSIDE};
use crate::mutator::safepoint::{Status, ThreadIdentity};
use crate::mutator::zeal::Zeal;
use crate::tlab::budget::CensusEntry;
use crate::tlab::counters::StripedCounters;
use crate::tlab::sizing::Sizing;
use crate::tlab::statistics::TlabStatistics;
use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The state of one mutator. The hot part comes first: a mutator is a pointer to it.
#[repr(C)]
pub(in crate::mutator) struct State {
    pub(in crate::mutator) hot: Hot,
    /// The heap. Never changes.
    pub(in crate::mutator) shared: Arc<Shared>,
    /// Roots in this thread's frames, innermost first; `OUTSIDE` in a blocking region. Owner writes; a collector
    /// reads while the thread is stopped or kept in a blocking region.
    pub(in crate::mutator) links: Cell<Entry>,
    /// The same while the thread is in a blocking region; changed then under `Roots::outside`.
    pub(in crate::mutator) parked: Cell<Entry>,
    /// State of the generator of identity hashes; never 0. Owner only.
    pub(in crate::mutator) hash_seed: Cell<u64>,
    /// Whether the thread runs. Owner and stoppers.
    pub(in crate::mutator) status: Status,
    /// Which thread it is. Never changes.
    pub(in crate::mutator) identity: ThreadIdentity,
    /// Safepoints reached. Owner only, as all that follow where nothing else is said; and the stopper's, while
    /// the owner is held.
    pub(in crate::mutator) safepoints: Cell<u64>,
    /// Owner only.
    pub(in crate::mutator) zeal: Zeal,
    /// Owner only.
    pub(in crate::mutator) sampling: Sampling,
    /// What the sizing policy remembers of this thread, and the rest of the cold state. Owner only.
    pub(in crate::mutator) owned: RefCell<Owned>,
    /// What a census asks of this thread. Owner writes, others read.
    pub(in crate::mutator) published: Published,
    /// Owner writes, others read. Relaxed.
    pub(in crate::mutator) counters: StripedCounters,
    /// What they were when the last cycle ended. Of who ends a cycle, and of the owner when it detaches.
    pub(in crate::mutator) counted: Cell<TlabStatistics>,
}

/// The owner's own.
pub(in crate::mutator) struct Owned {
    pub(in crate::mutator) sizing: Sizing,
    /// Bytes it allocated in the cycle that ended last, in buffers and outside.
    pub(in crate::mutator) allocated_in_cycle: u64,
    /// The regions this thread fills alone, once it has taken a mark.
    pub(in crate::mutator) private: Option<Private>,
    /// How often they became everybody's: a mark from before that is of no use.
    pub(in crate::mutator) dissolved: u64,
}

impl Owned {
    /// Makes the thread's own regions everybody's, and forgets them.
    pub(in crate::mutator) fn dissolve(&mut self, shared: &Shared) {
        if let Some(mut private) = self.private.take() {
            private.release(shared);
            self.dissolved += 1;
        }
    }
}

/// A [`CensusEntry`] that others may read while its thread runs. Relaxed: each is a hint.
#[derive(Default)]
pub(in crate::mutator) struct Published {
    /// Bytes of the buffer the thread asks for, a multiple of 8, plus 1 if it is a grower.
    size: AtomicUsize,
    /// When it last took a buffer, in ms of the heap's clock.
    last_refill_ms: AtomicU64,
}

impl Published {
    pub(in crate::mutator) fn publish(&self, sizing: &Sizing) {
        let size = sizing.desired_size() + usize::from(sizing.is_grower());
        // A look first: it rarely changes, and a store would dirty the line at every refill.
        if self.size.load(Ordering::Relaxed) != size {
            self.size.store(size, Ordering::Relaxed);
        }
        if self.last_refill_ms.load(Ordering::Relaxed) != sizing.last_refill_ms() {
            self.last_refill_ms.store(sizing.last_refill_ms(), Ordering::Relaxed);
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
        State {
            hot: Hot::new(shared.cards.biased()),
            links: Cell::new(ptr::null_mut()),
            parked: Cell::new(ptr::null_mut()),
            // Odd, and far apart: a step of the golden ratio for each thread.
            hash_seed: Cell::new(thread.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            status: Status::new(),
            identity: ThreadIdentity::current(),
            safepoints: Cell::new(0),
            zeal: Zeal::new(shared.zeal, thread),
            sampling: Sampling::default(),
            owned: RefCell::new(Owned { sizing, allocated_in_cycle: 0, private: None, dissolved: 0 }),
            published: Published::default(),
            counters: StripedCounters::default(),
            counted: Cell::default(),
            shared,
        }
    }

    /// The roots in the thread's frames, innermost first. While the thread is stopped, or kept in a blocking region.
    pub(in crate::mutator) fn roots(&self) -> Entry {
        match self.links.get() {
            OUTSIDE => self.parked.get(),
            head => head,
        }
    }

    /// Sets the limits from the buffer and the sampling point.
    pub(in crate::mutator) fn arm(&self) {
        self.hot.arm(if self.zeal.is_on() { 0 } else { self.sampling.point() });
        if cfg!(debug_assertions) {
            self.hot.verify();
        }
    }
}
