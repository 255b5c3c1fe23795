//! The memory of a heap: regions, cards and the shapes of objects. It does not know threads.
//!
//! A collector that has a `Space` and roots can collect it. So a collector is tested without
//! threads.
//!
//! No part is written by every thread at a refill: the free set is written per core.

use super::{CardTable, Committer, Disposal, FreeSet, Geometry, RegionTable};
use crate::object::{EarlyTypes, Shapes, fill};
use crate::options::Options;
use crate::platform::topology::Topology;
use crate::platform::{MemoryError, Reservation, current_cpu, huge_page_size};
use crate::sync::{Mutex, MutexGuard};

/// The regions of a heap, and the data about their objects.
pub(crate) struct Space {
    pub(crate) free: FreeSet<Committer>,
    /// The cards of written slots, kept with every collector.
    pub(crate) cards: CardTable,
    pub(crate) shapes: Shapes,
    pub(crate) early_types: EarlyTypes,
    pub(crate) topology: Topology,
    /// Held while the world is stopped. Also held by a thread that takes regions from the heap
    /// without being one of its threads. A collector relies on the set of regions that it found.
    regions: Mutex<()>,
}

impl Space {
    /// An empty space. The system calls its memory `name`.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no addresses for it, or no memory to touch ahead.
    pub(crate) fn new(
        options: &Options,
        geometry: Geometry,
        topology: Topology,
        name: &str,
    ) -> Result<Space, MemoryError> {
        let (disposal, heap_bytes) = (Disposal::from(options), geometry.heap_bytes());
        // A protected region must not become accessible together with its neighbour.
        let by_huge_page = options.use_transparent_huge_pages && !disposal.protect;
        let granule = geometry.region_bytes().max(if by_huge_page { huge_page_size() } else { 0 });
        let reservation = Reservation::reserve(heap_bytes, granule, name)?;
        if options.use_transparent_huge_pages {
            reservation.advise_huge_pages()?;
        }
        let pre_touch = options.always_pre_touch;
        if pre_touch && options.initial_heap_size > 0 {
            // All cores touch the memory at once. Each region counts as touched afterwards.
            let bytes = options.initial_heap_size.next_multiple_of(geometry.region_bytes());
            reservation.pretouch(0, bytes.min(heap_bytes), topology.available_parallelism())?;
        }
        let base = reservation.base() as usize;
        let region_bytes = geometry.region_bytes();
        let backing = Committer { reservation, region_bytes, granule, pre_touch };
        let Options { refill_strategy, allocation_regions: homes, .. } = *options;
        let mut free = FreeSet::new(RegionTable::new(base, geometry), backing, refill_strategy, homes);
        free.disposal = disposal;
        Ok(Space {
            free,
            cards: CardTable::new(base, heap_bytes)?,
            shapes: Shapes::default(),
            early_types: EarlyTypes::new(),
            topology,
            regions: Mutex::new(()),
        })
    }

    /// Keeps other threads from taking regions by the lock of regions.
    pub(crate) fn lock_regions(&self) -> MutexGuard<'_, ()> {
        self.regions.lock().expect("what panics in the stopped world ends the process")
    }

    /// The lock of regions, if nobody holds it.
    pub(crate) fn try_lock_regions(&self) -> Option<MutexGuard<'_, ()>> {
        self.regions.try_lock().ok()
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

    /// Covers the unused memory `[start, end)`, and lets another thread on this core find it.
    ///
    /// # Safety
    /// - The range is the caller's, empty or of whole words, and nothing refers into it.
    pub(crate) unsafe fn cover_rest(&self, start: usize, end: usize) {
        if start < end {
            // SAFETY: the caller's predicate.
            unsafe { fill(start, end) };
            self.free.give_spare(self.home(), start, end);
        }
    }

    /// Whether both addresses are in one region.
    pub(crate) fn same_region(&self, one: usize, other: usize) -> bool {
        self.free.table().index_of(one) == self.free.table().index_of(other)
    }

    /// Bytes of a region.
    pub(crate) fn region_bytes(&self) -> usize {
        self.free.table().geometry().region_bytes()
    }
}
