//! Allocation samples: which objects are sampled, from where they were allocated, what is kept.
//!
//! ```text
//! distance  how far the next point is, and what a sample stands for     (distance.rs)
//! stack     the frames of the allocating thread                         (stack.rs)
//! pending   a thread's samples since its last safepoint                 (pending.rs)
//! store     what all threads sampled: stacks, counts, living objects    (store.rs)
//! ```
//!
//! A thread passes a point of its own. It notes the object's address and its stack in its own
//! memory: no lock, no shared line. The object has no header at that moment, and generated code may
//! make several objects of the memory. So the thread reads the headers later: at its next
//! safepoint, when all of them are complete and nothing has moved. There it hands its samples over.
//!
//! Refused:
//! - A fixed distance between points. A loop whose turns allocate a divisor of the distance has the
//!   same object sampled each time.
//! - To hand the shape to the slow path. Generated code asks for bytes, and its callers would pay
//!   for an argument that one call in thousands uses.

mod distance;
mod pending;
mod stack;
mod store;

pub(in crate::mutator) use distance::Distances;
pub use distance::{DEFAULT_SAMPLE_INTERVAL, sample_probability};

pub(in crate::mutator) use pending::{Pending, PendingSample};
pub(in crate::mutator) use stack::frames;
pub use stack::{FrameName, FrameSink, MAX_FRAMES, StackWalker};
use store::SampleLists;
pub(crate) use store::{Bucket, DroppedSamples, Samples};
pub(in crate::mutator) use store::{SampleStore, SettledSample};

use super::roots::RootTable;
use crate::sync::{Mutex, POISONED};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Walks the stacks of an embedder's threads.
pub(crate) type Walker = Arc<dyn StackWalker>;

/// The samples of one heap.
pub(crate) struct Sampler {
    /// Mean bytes from one point to the next; 0: off. Any thread writes, then requests a stop.
    /// Relaxed: a thread reads it after it has acknowledged the request.
    interval: AtomicUsize,
    /// The seed of all threads' distances. Never changes.
    pub(in crate::mutator) seed: u64,
    /// The embedder's walker of stacks. Never changes.
    pub(crate) walker: Option<Walker>,
    /// Whether this library was compiled with frame pointers. Never changes.
    pub(in crate::mutator) frame_pointers: bool,
    pub(in crate::mutator) memory: SampleMemory,
    lists: Mutex<SampleLists>,
}

/// The memory that samples take.
///
/// ```text
/// used = bytes of all threads' pending samples + bytes of the store <= limit
/// ```
#[derive(Debug, Default)]
pub(in crate::mutator) struct SampleMemory {
    limit: usize,
    /// Any thread. Relaxed: nothing else depends on it.
    used: AtomicUsize,
    /// Samples for which there was no memory. Relaxed.
    samples: AtomicU64,
    /// Bytes of those samples' objects. Relaxed.
    bytes: AtomicU64,
    /// Samples of memory that was recycled before its objects were complete. Relaxed.
    recycled: AtomicU64,
}

impl SampleMemory {
    /// Takes `bytes` of the limit; `false` if less is left.
    pub(in crate::mutator) fn take(&self, bytes: usize) -> bool {
        let fits = |used: usize| used.checked_add(bytes).filter(|used| *used <= self.limit);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Gives back what was taken.
    pub(in crate::mutator) fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Counts a sample of memory that is used again before its objects' types were read.
    pub(in crate::mutator) fn drop_recycled(&self) {
        self.recycled.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a sample of an object of `bytes` that cannot be kept.
    pub(in crate::mutator) fn drop_sample(&self, bytes: usize) {
        self.samples.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The samples that were dropped.
    fn dropped(&self) -> DroppedSamples {
        DroppedSamples {
            samples: self.samples.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            recycled: self.recycled.load(Ordering::Relaxed),
        }
    }
}

impl Sampler {
    pub(crate) fn new(interval: usize, limit: usize, seed: u64, walker: Option<Walker>) -> Sampler {
        Sampler {
            interval: AtomicUsize::new(interval),
            seed,
            walker,
            frame_pointers: stack::has_frame_pointers(),
            memory: SampleMemory { limit, ..SampleMemory::default() },
            lists: Mutex::default(),
        }
    }

    /// Mean bytes from one point to the next; 0: off.
    pub(crate) fn interval(&self) -> usize {
        self.interval.load(Ordering::Relaxed)
    }

    /// Sets the mean bytes from one point to the next. The caller then requests a safepoint of each
    /// thread, at which the thread adopts the interval.
    pub(crate) fn set_interval(&self, bytes: usize) {
        self.interval.store(bytes, Ordering::Relaxed);
    }

    /// Whether no thread holds the lock. Asked in a child of `fork()`.
    pub(in crate::mutator) fn is_at_rest(&self) -> bool {
        self.lists.try_lock().is_ok()
    }

    /// Locks the samples, whose weak roots are in `table`.
    pub(in crate::mutator) fn store<'s>(&'s self, table: &'s RootTable) -> SampleStore<'s> {
        SampleStore { lists: self.lists.lock().expect(POISONED), memory: &self.memory, table }
    }

    /// The samples that were dropped.
    pub(crate) fn dropped(&self) -> DroppedSamples {
        self.memory.dropped()
    }
}
