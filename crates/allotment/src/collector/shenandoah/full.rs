//! The full collection, which all collectors share, as this one does it: it leaves no old object.

use super::Shenandoah;
use super::trigger::CycleKind;
use crate::collector::full::Compaction;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::USUAL;
use crate::collector::sizing::Extent;
use crate::mutator::{Cause, Shared, World};
use crate::sync::{Ordering, POISONED};

impl Shenandoah {
    /// Does a full collection; `None`: the system has no memory for it.
    pub(super) fn full(
        &self,
        world: &World<'_>,
        cause: Cause,
        compaction: Compaction,
    ) -> Option<CollectionRecord> {
        let shared = world.shared();
        let start = self.history.begin(&shared.space.free);
        self.settings.checks.before(world);
        let mut tables = self.tables.lock().expect(POISONED);
        let done = self.settings.collect_fully(world, &mut tables, &self.gang, compaction)?;
        drop(tables);
        self.degenerated_in_row.store(0, Ordering::Relaxed);
        self.engine.make_all_young(shared);
        world.set_barriers(self.engine.resting_barriers());
        self.fit_capacity(shared);
        let uncommitted = self.settings.conclude(world);
        let record = CollectionRecord::of_full(world, cause, done, uncommitted);
        self.history.occupancy(&shared.space.free);
        let pause = self.history.clock.since(start);
        let overhead = self.overhead.after(&shared.space.free, Extent::Full, cause, start, pause);
        // Only this cause means that cycles began too late.
        if cause == Cause::AllocationFailure {
            self.learn(CycleKind::Full, start, shared);
        }
        Some(CollectionRecord { start, pause, overhead, ..record })
    }

    /// Marking had no memory for words, and lost them: the heap is collected in a stop. For the
    /// control thread.
    pub(super) fn collect_for_lost_marks(&self, shared: &Shared) {
        let stopped = shared.stop_the_world(|world| self.full(world, Cause::Trigger, USUAL));
        if let Ok(Some(record)) = stopped {
            self.history.add_stop(record);
        }
        // Threads wait for the cycle. Even if there was no memory for that: nothing more can be
        // done.
        self.progress.serve(self.progress.end());
    }
}
