//! Single figures of a heap: its memory, its threads, their buffers, its collections.
//!
//! Any thread may ask at any time, attached or not. [`Heap::metrics`] reads what a monitor wants in
//! one call.

use crate::Heap;
use crate::collector::CollectionHistory;
use crate::mutator::AttachedThread;
use crate::region::Occupancy;
use crate::tlab::statistics::TlabTotals;

/// The use of a heap's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUse {
    /// Bytes of address space: `MaxHeapSize`, rounded up to regions.
    pub reserved_bytes: usize,
    /// Bytes that may be in use. When they are, a thread that needs more collects, and the
    /// collector may raise them.
    pub capacity_bytes: usize,
    /// Bytes backed by memory, or promised by the system.
    pub committed_bytes: usize,
    /// Bytes handed out as buffers and objects.
    pub used_bytes: usize,
    /// Bytes by which the sizes of all threads' buffers exceed their minimum
    /// (`TLABPolicy=adaptive`).
    pub tlab_bytes_above_floor: usize,
}

impl Heap {
    /// The use of the heap's memory, at about this moment. The call takes no lock, so it may be
    /// made where [`metrics`](Self::metrics) may not.
    ///
    /// ```
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// let memory = heap.memory();
    /// assert_eq!((memory.used_bytes, memory.reserved_bytes), (0, 16 << 20));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn memory(&self) -> MemoryUse {
        self.memory_of(&self.shared.space.free.occupancy())
    }

    pub(super) fn memory_of(&self, occupancy: &Occupancy) -> MemoryUse {
        let (free, geometry) = (&self.shared.space.free, self.geometry());
        MemoryUse {
            reserved_bytes: geometry.heap_bytes(),
            capacity_bytes: free.capacity() << geometry.region_shift,
            committed_bytes: free.committed_bytes(),
            used_bytes: occupancy.used_bytes,
            tlab_bytes_above_floor: self.shared.policy.budget.granted(),
        }
    }

    /// The totals of all threads' buffers since the heap began, detached threads included; prints
    /// as HotSpot's "TLAB totals" line.
    ///
    /// ```
    /// use allotment::{Heap, NewStr, alloc};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| alloc!(mu, NewStr::from("in the heap")).map(drop))??;
    /// let totals = heap.tlab_totals();
    /// assert_eq!((totals.threads, totals.sum.refills), (1, 1));
    /// println!("{totals}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Aborts
    /// In a child of `fork()` in which this heap [cannot be used](crate::ForkError).
    pub fn tlab_totals(&self) -> TlabTotals {
        self.shared.after_fork_or_abort();
        self.shared.threads.registry.totals()
    }

    /// The collections so far: how many, the latest records, and how long they took.
    ///
    /// ```
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| mu.collect())?;
    /// let collections = heap.collections();
    /// assert_eq!(collections.count, 1);
    /// println!("{}", collections.recent[0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Aborts
    /// In a child of `fork()` in which this heap [cannot be used](crate::ForkError).
    pub fn collections(&self) -> CollectionHistory {
        self.shared.after_fork_or_abort();
        self.history.read(Clone::clone)
    }

    /// The attached threads, one by one: what each does, and how much it allocated. A reading stops
    /// no thread and waits for no stop. Numbers of threads that run need not be of the same
    /// instant.
    ///
    /// # Aborts
    /// In a child of `fork()` in which this heap [cannot be used](crate::ForkError).
    ///
    /// ```
    /// use allotment::stats::ThreadActivity;
    /// use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     alloc!(mu, NewStr::from("in the heap"))?;
    ///     let threads = heap.threads();
    ///     assert_eq!((threads.len(), threads[0].activity), (1, ThreadActivity::Running));
    ///     assert_eq!(threads[0].allocated_bytes(), 32);
    ///     Ok::<(), OutOfMemory>(())
    /// })??;
    /// assert!(heap.threads().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn threads(&self) -> Vec<AttachedThread> {
        self.shared.after_fork_or_abort();
        self.shared.threads.registry.attached_threads()
    }
}
