//! The memory of a heap: regions, cards and the shapes of objects. It does not know threads.
//!
//! A collector that has a `Space` and roots can collect it. So a collector is tested without threads.
//!
//! No part is written by every thread at a refill: the free set is written per core.

use super::{CardTable, Committer, FreeSet};
use crate::object::{EarlyTypes, Shapes};
use crate::platform::current_cpu;
use crate::platform::topology::Topology;
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
    /// The space of these regions, without shapes.
    pub(crate) fn new(free: FreeSet<Committer>, cards: CardTable, topology: Topology) -> Space {
        Space {
            free,
            cards,
            shapes: Shapes::default(),
            early_types: EarlyTypes::new(),
            topology,
            regions: Mutex::new(()),
        }
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

    /// Bytes of a region.
    pub(crate) fn region_bytes(&self) -> usize {
        self.free.table().geometry().region_bytes()
    }
}
