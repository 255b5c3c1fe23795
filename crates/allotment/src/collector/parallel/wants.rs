//! Who does a collection: how many workers, whether the caller is one of them, and when their threads are started.

use super::{Inner, Parallel};
use crate::collector::record::WantedWorkers;
use crate::collector::work::Team;
use crate::mutator::World;

/// Who a young collection wants.
#[derive(Clone, Copy)]
pub(super) struct Wants {
    workers: usize,
    /// Bytes that they are wanted for.
    bytes: usize,
    /// Whether more threads want to run than there are CPUs.
    crowded: bool,
}

impl Inner {
    /// Who is wanted for a young collection of so many regions that so many threads filled.
    pub(super) fn wants(&self, eden_regions: usize, threads: usize) -> Wants {
        Wants {
            workers: self.sizing.workers(eden_regions, threads),
            bytes: self.sizing.expected_bytes(eden_regions, threads),
            crowded: self.sizing.is_crowded(threads),
        }
    }
}

impl Parallel {
    /// Starts who collects an eden that has become so large.
    pub(super) fn prepare(&self, eden_regions: usize, threads: usize) {
        // Who has it lets more threads collect, too.
        let Ok(inner) = self.inner.try_lock() else { return };
        let wants = inner.wants(eden_regions, threads);
        drop(inner);
        self.team(wants);
    }

    /// Who the next young collection will want.
    pub(super) fn next(&self, world: &World<'_>) -> Wants {
        let inner = self.inner.lock().expect("a collection that panics ends the process");
        inner.wants(inner.decision.eden_regions, world.threads())
    }

    /// Those who do a collection that wants so many workers, or as many as there can be.
    pub(super) fn team(&self, Wants { workers, crowded, .. }: Wants) -> Team<'_> {
        let workers = self.gang.ready(workers);
        let beside = workers > 1 && crowded && self.gang.ready_beside(workers);
        if beside { Team::beside(&self.gang, workers) } else { Team::new(&self.gang, workers) }
    }

    /// The same for a record.
    pub(super) fn wanted(&self, Wants { workers, bytes, .. }: Wants) -> WantedWorkers {
        WantedWorkers { workers, most: self.gang.most(), bytes }
    }
}
