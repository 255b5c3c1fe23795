//! The full collection, which all collectors share, in this collector: it leaves no old object.

use super::Shenandoah;
use super::bookkeeping::Lesson;
use super::trigger::CycleKind;
use crate::collector::full::Compaction;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::USUAL;
use crate::collector::sizing::Extent;
use crate::mutator::{Cause, Shared, World};
use crate::sync::{Ordering, POISONED};

impl Shenandoah {
    /// Does a full collection. Returns `None` if the system has no memory for it.
    pub(super) fn full(
        &self,
        world: &World<'_>,
        cause: Cause,
        compaction: Compaction,
    ) -> Option<CollectionRecord> {
        let shared = world.shared();
        let start = self.history.begin(&shared.space.free);
        let before = self.before(&shared.space.free);
        self.settings.checks.before(world);
        let mut tables = self.tables.lock().expect(POISONED);
        let done = self.settings.collect_fully(world, &mut tables, &self.gang, compaction)?;
        drop(tables);
        // All threads stand still, so all requests so far arrived before this collection began.
        self.progress.begin_stopped();
        self.progress.end();
        self.degenerated_in_row.store(0, Ordering::Relaxed);
        self.engine.make_all_young(shared);
        world.set_barriers(self.engine.resting_barriers());
        self.fit_capacity(shared);
        let uncommitted = self.settings.conclude_keeping(world, self.bytes_wanted_soon(&shared.space.free));
        let record = CollectionRecord::of_full(world, cause, done, uncommitted);
        self.history.occupancy(&shared.space.free);
        let pause = self.history.clock.since(start);
        let overhead = self.overhead.after(&shared.space.free, Extent::Full, cause, start, pause);
        // Only this cause means that cycles began too late.
        if cause == Cause::AllocationFailure {
            let lesson =
                Lesson { kind: CycleKind::Full, began: start, stopped: pause, was_behind: false, before };
            // The record of the cycle before it says what to change.
            self.learn(lesson, shared);
        }
        Some(CollectionRecord { start, pause, overhead, ..record })
    }

    /// Collects the heap in a stop, because marking had no memory for words and lost them. For the
    /// control thread.
    pub(super) fn collect_for_lost_marks(&self, shared: &Shared) {
        let stopped = shared.stop_the_world(|world| self.full(world, Cause::Trigger, USUAL));
        // Another thread's stop came first. The requests are left, and another cycle begins.
        let Some(record) = stopped.ok().flatten() else { return };
        self.history.add_stop(record);
        // The requests are served, even if the system had no memory for a full collection: the
        // collector can do no more.
        self.progress.serve(self.progress.end());
    }
}
