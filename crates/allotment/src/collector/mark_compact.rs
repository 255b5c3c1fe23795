//! Mark-compact: every collection is a full one.
//!
//! This is the simplest collector that wastes no memory. It needs no free memory and leaves no
//! holes. It asks nothing of mutators: as under any collector, their stores dirty cards, but
//! mark-compact never reads the cards. Its price is the pause, which grows with the live bytes. As
//! many workers as are worth waking share the pause. The collector suits small heaps, tests, and
//! embedders that prefer all of the memory to short pauses.

use super::full::{Compaction, SideTables};
use super::history::History;
use super::overhead::Overhead;
use super::parts::Parts;
use super::record::CollectionRecord;
use super::settings::{Settings, USUAL, raise_capacity};
use super::sizing::{Capacity, Extent};
use super::timer::Timer;
use super::work::Gang;
use crate::mutator::{Cause, Collector, GcOverhead, Mutator, Outcome, Shared, World};
use crate::platform::MemoryError;
use std::sync::{Arc, Mutex};

/// The collector whose collections are all full.
pub(crate) struct MarkCompact {
    /// Locked in the stopped world only, where there is one stopper.
    tables: Mutex<SideTables>,
    gang: Gang,
    history: Arc<History>,
    settings: Settings,
    capacity: Capacity,
    overhead: Overhead,
    timer: Arc<Timer>,
}

impl MarkCompact {
    /// The collector of these parts.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no addresses for its tables, or no memory to touch ahead.
    pub(super) fn new(parts: &Parts<'_>) -> Result<MarkCompact, MemoryError> {
        let (settings, capacity) = (parts.settings(), parts.capacity());
        let tables = SideTables::new(parts.base(), parts.geometry().heap_bytes(), settings.pages)?;
        parts.space.free.set_capacity(capacity.after(0));
        let gang = parts.gang();
        Ok(MarkCompact {
            tables: Mutex::new(tables),
            timer: Timer::new(parts, gang.cpus()),
            gang,
            history: parts.history.clone(),
            settings,
            capacity,
            overhead: parts.overhead(),
        })
    }

    /// Does a full collection. Returns `None` if the system has no memory for it.
    fn collect_stopped(
        &self,
        world: &World<'_>,
        cause: Cause,
        compaction: Compaction,
    ) -> Option<CollectionRecord> {
        let shared = world.shared();
        let start = self.history.begin(&shared.space.free);
        self.settings.checks.before(world);
        let mut tables = self.tables.lock().expect("a collection that panics ends the process");
        let done = self.settings.collect_fully(world, &mut tables, &self.gang, compaction)?;
        shared.space.free.set_capacity(self.capacity.after(shared.space.free.regions_in_use()));
        let uncommitted = self.settings.conclude(world);
        let record = CollectionRecord::of_full(world, cause, done, uncommitted);
        self.history.occupancy(&shared.space.free);
        let pause = self.history.clock.since(start);
        let overhead = self.overhead.after(&shared.space.free, Extent::Full, cause, start, pause);
        Some(CollectionRecord { start, pause, overhead, ..record })
    }

    /// Does everything possible to make room. Returns the records of the collections.
    fn make_room(
        &self,
        world: &World<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Vec<CollectionRecord> {
        self.overhead.begin_stop();
        let decides = self.overhead.is_near(cause);
        let compaction = if decides { Compaction::Maximum } else { USUAL };
        let mut records = Vec::from_iter(self.collect_stopped(world, cause, compaction));
        let Some(first) = records.first() else { return records };
        let free = &world.shared().space.free;
        if first.exceeds_limit() {
            // The little room that is left serves the handler of the failure.
            free.set_capacity(free.table().len());
            return records;
        }
        // The last resort brings all free memory into one piece, runs included. Regions in
        // quarantine would stand in the way, and so would those that the collection puts there.
        if self.grow(world, satisfied) || free.end_quarantine() && self.grow(world, satisfied) {
            return records;
        }
        if !decides || free.is_scattered() {
            records.extend(self.collect_stopped(world, cause, Compaction::Together));
        }
        if !self.grow(world, satisfied) && free.end_quarantine() {
            self.grow(world, satisfied);
        }
        records
    }

    /// Raises the capacity step by step until the stopper is satisfied. Returns whether the stopper
    /// is.
    fn grow(&self, world: &World<'_>, satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool) -> bool {
        let Some(stopper) = world.stopper() else { return true };
        let free = &world.shared().space.free;
        satisfied(&stopper)
            || raise_capacity(free, free.table().len(), |capacity| capacity * 2, || satisfied(&stopper))
    }
}

impl Collector for MarkCompact {
    fn name(&self) -> &'static str {
        "mark-compact"
    }

    fn is_at_rest(&self) -> bool {
        self.tables.try_lock().is_ok()
            && self.gang.is_at_rest()
            && self.timer.is_at_rest()
            && self.history.is_at_rest()
    }

    fn forget_threads(&self) {
        self.gang.forget_threads();
        self.timer.forget_thread();
    }

    fn heap_is_taken_over(&self) {
        self.timer.go_on();
    }

    fn over_limit(&self) -> Option<(u64, GcOverhead)> {
        self.overhead.exceeded()
    }

    fn embedder_let_go(&self) {
        self.overhead.begin_anew();
    }

    fn emptied(&self, world: &World<'_>) -> Option<usize> {
        self.timer.regions_were_freed(&world.shared().space.free);
        self.overhead.emptied(self.history.clock.age());
        None
    }

    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        let stopped = mutator.raw_mut().stop_the_world(|world| self.make_room(world, cause, satisfied));
        let Some(records) = stopped else { return Outcome::Elsewhere };
        let outcome = CollectionRecord::outcome_of(&records, false);
        self.timer.regions_were_freed(&mutator.shared().space.free);
        self.history.add_stop(records);
        outcome
    }

    fn collect_after_interval(&self, shared: &Arc<Shared>) {
        let stopped = shared.stop_the_world(|world| self.make_room(world, Cause::Interval, &mut |_| true));
        if let Ok(Some(records)) = stopped {
            self.history.add_stop(records);
        }
    }

    fn heap_is_ready(&self, shared: &Arc<Shared>) {
        self.timer.begin(shared);
    }
}
