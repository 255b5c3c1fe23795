//! Which workers do a collection: how many, whether the caller is one of them, and when their
//! threads start.

use super::Parallel;
use crate::collector::sizing::WorkerDemand;
use crate::collector::work::Workers;
use crate::mutator::World;

impl Parallel {
    /// Starts the threads that will collect an eden of this new size.
    pub(super) fn prepare(&self, eden_regions: usize, threads: usize) {
        // The thread that has the lock lets more threads collect, too.
        let Ok(inner) = self.inner.try_lock() else { return };
        let demand = inner.sizing.worker_demand(eden_regions, threads);
        drop(inner);
        self.workers(demand);
    }

    /// The workers that the next young collection will want.
    pub(super) fn next_demand(&self, world: &World<'_>) -> WorkerDemand {
        let inner = self.inner.lock().expect("a collection that panics ends the process");
        inner.sizing.worker_demand(inner.decision.eden_regions, world.threads())
    }

    /// The workers for this demand, or as many as there can be.
    pub(super) fn workers(&self, WorkerDemand { workers, crowded, .. }: WorkerDemand) -> Workers<'_> {
        let workers = self.gang.ready(workers);
        let beside = workers > 1 && crowded && self.gang.ready_beside(workers);
        if beside { Workers::beside(&self.gang, workers) } else { Workers::new(&self.gang, workers) }
    }
}
