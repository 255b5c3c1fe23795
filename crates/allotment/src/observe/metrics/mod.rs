//! The numbers of a heap for monitoring, read while its threads run.
//!
//! All of them are there already: each thread counts for itself, collections add to sums when they
//! end, and the region table says what regions are in use for. A reading adds and copies. So it
//! costs threads nothing that they would not do otherwise, and there is nothing to switch on.
//!
//! Refused:
//! - A reading of one instant. The threads would have to stop for it, and a monitor that stops them
//!   every few seconds is what a concurrent collector avoids.
//! - To depend on a library of metrics. There are several, an embedder has one of them, and each
//!   needs some lines ([`Metrics::named`]): `examples/` has three.

mod named;
#[cfg(all(test, not(loom)))]
mod tests;

pub use named::{Metric, MetricValue};

use super::MemoryUse;
use crate::Heap;
use crate::collector::CollectionSums;
use crate::mutator::{Attachments, RootCounts, SafepointStatistics, Stalls};
use crate::region::RegionUse;
use crate::time_histogram::TimeHistogram;
use crate::tlab::statistics::TlabStatistics;

/// The numbers of a heap at about one moment; see [`Heap::metrics`].
///
/// Levels (memory, regions, roots, threads now) rise and fall. All others are counts and sums since
/// the heap was made, which only grow: [`Heap::reset`] does not lower them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// The collector's name.
    pub collector: &'static str,
    /// Bytes of the heap: its size, what is committed, what is used. `used_bytes` is
    /// `young_bytes + old_bytes`.
    pub memory: MemoryUse,
    /// Bytes in use that do not belong to old objects. With a collector without generations these
    /// are all.
    pub young_bytes: usize,
    /// Bytes in use that belong to old objects. Humongous ones are included.
    pub old_bytes: usize,
    /// Bytes that were in use after the last collection; `None` if there was none.
    pub used_bytes_after_collection: Option<usize>,
    /// Regions by what they are in use for.
    pub regions: RegionUse,
    /// Counts of the buffers of all threads, detached ones included: the sum of
    /// [`Heap::tlab_totals`]. [`TlabStatistics::object_bytes`] is what the program allocated, but
    /// for objects in buffers that are in use: at most a buffer for each attached thread.
    pub buffers: TlabStatistics,
    /// Threads that are attached, and that were.
    pub threads: Attachments,
    /// Stops of the world for any reason, and the times to safepoint.
    pub stops: SafepointStatistics,
    /// Collections by kind, and what they did. A collection counts when it has ended. A cycle
    /// counts as concurrent even if a stop of the world did its last steps, as long as its moves
    /// were over.
    pub collections: CollectionSums,
    /// The times for which collections made all threads stand still, times to safepoint included.
    /// Pauses of a cycle that was given up are not among them: it has no record.
    pub pauses: TimeHistogram,
    /// Collections after which an allocation failed because of `UseGCOverheadLimit`.
    pub overhead_limits: u64,
    /// Allocations that had to wait for a collection.
    pub stalls: Stalls,
    /// Roots outside of frames.
    pub roots: RootCounts,
    /// Allocation samples that are missing in [`Heap::allocation_profile`] because there was no
    /// memory for them.
    pub dropped_samples: u64,
}

impl Heap {
    /// The numbers of this heap for monitoring. Any thread may ask at any time, attached or not.
    ///
    /// A reading never stops the world and never waits for one that stops it. It looks at each
    /// region in use and at the counts of each attached thread. It takes the lock that threads take
    /// to attach and to detach, and the lock of the records of collections, both for a moment. An
    /// allocation takes neither, unless it collects, or its thread's buffer sizes are due for a new
    /// look.
    ///
    /// Three things hold a reading up. [`Heap::verify`] keeps the lock of attaching for the whole
    /// check, and [`Heap::reset`] for the whole reset. A [`RootProvider`](crate::raw::RootProvider)
    /// must not read metrics while it visits roots: it would wait for a lock that its own visit
    /// holds.
    ///
    /// Numbers of threads that run need not be of the same instant. Where no thread runs, and no
    /// collection, they are exact. Of readings that follow each other, the later has no lower
    /// count. Regions are read one after the other while threads take and free them. So
    /// `memory.used_bytes` may exceed `memory.committed_bytes`, and also `memory.capacity_bytes`,
    /// in a reading while threads run.
    ///
    /// # Aborts
    /// In a child of `fork()` in which this heap [cannot be used](crate::ForkError).
    ///
    /// ```
    /// use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     for _ in 0..1000 {
    ///         alloc!(mu, NewStr::from("in the heap"))?;
    ///     }
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// let metrics = heap.metrics();
    /// assert_eq!(metrics.buffers.object_bytes(), 1000 * 32);
    /// println!("{} collections, {:?} in pauses", metrics.collections.full, metrics.pauses.sum());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let shared = &*self.shared;
        shared.after_fork_or_abort();
        let occupancy = shared.space.free.occupancy();
        let (collections, pauses, overhead_limits, used_bytes_after_collection) =
            self.history.read(|collections| {
                let last = collections.recent.back().map(|record| record.used_after);
                (collections.sums, collections.pauses.buckets, collections.overhead_limits, last)
            });
        Metrics {
            collector: self.collector(),
            memory: self.memory_of(&occupancy),
            young_bytes: occupancy.used_bytes - occupancy.tenured_bytes,
            old_bytes: occupancy.tenured_bytes,
            used_bytes_after_collection,
            regions: occupancy.regions,
            buffers: shared.threads.registry.totals().sum,
            threads: shared.threads.registry.attachments(),
            stops: shared.threads.registry.safepoints(),
            collections,
            pauses,
            overhead_limits,
            stalls: shared.threads.stalls.read(),
            roots: shared.threads.roots.counts(),
            dropped_samples: shared.watch.sampler.dropped().samples,
        }
    }
}
