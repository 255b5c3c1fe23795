//! What a mutator does that finds no memory, or asks for a collection.
//!
//! ```text
//! no room -> the world is stopped: the cycle that is under way ends there (degenerated)
//!         -> a whole cycle in the stop
//!         -> full; more of the heap, or failure if this takes nearly all time (UseGCOverheadLimit)
//!         -> full, every region compacted, then all in one piece
//! ```

use super::scope::{Garbage, Scope as CycleScope};
use super::trigger::CycleKind;
use super::{POISONED, Shenandoah};
use crate::collector::full::Compaction;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::USUAL;
use crate::collector::sizing::Scope;
use crate::mutator::{Cause, Mutator, Outcome, Shared, World};
use crate::sync::Ordering;

/// Of the collections that zeal asks for, one of this many stops the world, and one of its square
/// is full.
const ZEAL_STOPPED: u64 = 4;

/// Of the others in a heap with generations, one of this many looks at all objects.
const ZEAL_GLOBAL: u64 = 7;

impl Shenandoah {
    /// Whether some thread wants the cycle finished that is under way.
    pub(super) fn degenerates(&self) -> bool {
        self.degenerating.load(Ordering::Relaxed) > 0
    }

    /// As [`Collector::collect`](crate::mutator::Collector::collect).
    pub(super) fn make_room(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        // A child of `fork()` may have no control thread to wait for.
        mutator.shared().after_fork_or_abort();
        if !self.passive.load(Ordering::Relaxed) {
            let beside = match cause {
                Cause::Requested => self.await_cycle(mutator),
                Cause::Zeal => {
                    let turn = mutator.shared().threads.full_collections.load(Ordering::Relaxed);
                    let garbage = match turn.is_multiple_of(ZEAL_GLOBAL) {
                        true => Garbage::All,
                        false => Garbage::Young,
                    };
                    !turn.is_multiple_of(ZEAL_STOPPED) && self.ask_for_cycle(mutator, garbage)
                }
                _ => false,
            };
            if beside {
                satisfied(mutator);
                return Outcome::Collected;
            }
        }
        self.degenerating.fetch_add(1, Ordering::Relaxed);
        let stopped = mutator.stop_the_world(|world| self.collect_stopped(world, cause, satisfied));
        self.degenerating.fetch_sub(1, Ordering::Relaxed);
        self.publish();
        let Some((records, room)) = stopped else { return Outcome::Elsewhere };
        let outcome = CollectionRecord::outcome_of(&records, room);
        self.history.add_stop(records);
        outcome
    }

    /// Does everything possible to make room. Returns the records of full collections, and whether
    /// there is room.
    fn collect_stopped(
        &self,
        world: &World<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> (Vec<CollectionRecord>, bool) {
        let shared = world.shared();
        let free = &shared.space.free;
        let mut satisfied = || world.stopper().is_none_or(|stopper| satisfied(&stopper));
        let mut records = Vec::new();
        self.overhead.begin_stop();
        // The cycle that was under way may have freed enough.
        if cause == Cause::AllocationFailure && satisfied() {
            return (records, true);
        }
        self.settings.checks.before(world);
        // Cycles in stops that follow each other do not help: a full collection does more at once.
        let in_row = self.degenerated_in_row.load(Ordering::Relaxed);
        if cause != Cause::AllocationFailure || in_row <= self.failures.degenerated {
            let cycle = &mut *self.lock();
            self.begin_cycle(cycle, shared, cause, CycleScope::Global);
            cycle.account.record.degenerated = Some("Outside of Cycle");
            self.finish(cycle, world);
        }
        self.settings.checks.after(world);
        let all = free.table().len();
        // Also of the cycle that was under way.
        let lost = self.lock().account.lost;
        let critical = all * self.failures.critical_free_percent;
        let has_gained = free.free_regions() * 100 >= critical;
        if !lost && (has_gained || cause != Cause::AllocationFailure) && cause != Cause::Zeal && satisfied() {
            return (records, true);
        }
        let decides = self.overhead.is_near(cause);
        for compaction in [if decides { Compaction::Maximum } else { USUAL }, Compaction::Together] {
            let Some(record) = self.full(world, cause, compaction) else { break };
            let exceeded = record.exceeds_limit();
            records.push(record);
            // The little room that is left serves the handler of a failure.
            free.set_capacity(all);
            if exceeded {
                return (records, false);
            }
            if satisfied() || free.end_quarantine() && satisfied() {
                // The next cycle needs its reserve again.
                self.fit_capacity(shared);
                return (records, true);
            }
        }
        (records, false)
    }

    /// Does a full collection; `None`: the system has no memory for it.
    fn full(&self, world: &World<'_>, cause: Cause, compaction: Compaction) -> Option<CollectionRecord> {
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
        let overhead = self.overhead.after(&shared.space.free, (Scope::Full, cause), (start, pause));
        // Only this cause means that cycles began too late.
        if cause == Cause::AllocationFailure {
            self.learn(CycleKind::Full, start, shared);
        }
        Some(CollectionRecord { start, pause, overhead, ..record })
    }

    /// Lets mutators use the heap up to the reserve for copies; all of it where live objects leave
    /// no room for a reserve.
    pub(super) fn fit_capacity(&self, shared: &Shared) {
        let free = &shared.space.free;
        let all = free.table().len();
        let few = free.free_regions() <= 2 * self.engine.reserve;
        free.set_capacity(if few { all } else { all - self.engine.reserve });
    }

    /// Marking has lost words for want of memory: the heap is collected in a stop. For the control
    /// thread.
    pub(super) fn collect_for_lost_marks(&self, shared: &Shared) {
        let stopped = shared.stop_the_world(|world| self.full(world, Cause::Trigger, USUAL));
        if let Ok(Some(record)) = stopped {
            self.history.add_stop(record);
        }
        // Even if there was no memory for that: nothing more can be done.
        self.serve_begun();
    }
}
