//! A mutator that finds no memory, or asks for a collection.
//!
//! ```text
//! no room -> the world is stopped: the cycle that is under way ends there (degenerated)
//!         -> a whole cycle in the stop
//!         -> full; the reserve for copies, or failure if collections take nearly all time
//!            (UseGCOverheadLimit)
//!         -> full, every region compacted, then all in one piece
//! ```

use super::Shenandoah;
use super::scope::{Garbage, Scope};
use crate::collector::full::Compaction;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::USUAL;
use crate::mutator::{Cause, Mutator, Outcome, Shared, World};
use crate::sync::Ordering;
use std::sync::Arc;

/// Of the collections that zeal asks for, one of this many stops the world, and one of its square
/// is full.
const ZEAL_STOPPED: u64 = 4;

/// Of the others in a heap with generations, one of this many looks at all objects.
const ZEAL_GLOBAL: u64 = 7;

impl Shenandoah {
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
        let stopped = mutator.raw_mut().stop_the_world(|world| self.collect_stopped(world, cause, satisfied));
        self.degenerating.fetch_sub(1, Ordering::Relaxed);
        self.publish();
        self.timer.regions_were_freed(&mutator.shared().space.free);
        let Some((records, room)) = stopped else { return Outcome::Elsewhere };
        let outcome = CollectionRecord::outcome_of(&records, room);
        self.history.add_stop(records);
        outcome
    }

    /// As [`Collector::collect_after_interval`](crate::mutator::Collector::collect_after_interval):
    /// a cycle beside mutators, or in a stop where no control thread makes cycles. None if another
    /// cycle is under way.
    pub(super) fn make_room_after_interval(&self, shared: &Arc<Shared>) {
        if self.engine.assisted.has_cycle() {
            return;
        }
        if !self.passive.load(Ordering::Relaxed) {
            self.progress.ask_after_interval();
            if self.wake(|| Arc::downgrade(shared)) {
                return;
            }
        }
        let stopped =
            shared.stop_the_world(|world| self.collect_stopped(world, Cause::Interval, &mut |_| true));
        self.publish();
        if let Ok(Some((records, _))) = stopped {
            self.history.add_stop(records);
        }
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
        if cause != Cause::AllocationFailure || in_row <= self.degenerated_threshold {
            let cycle = &mut *self.lock();
            self.begin_cycle(cycle, shared, cause, Scope::Global);
            cycle.account.record.degenerated = Some("Outside of Cycle");
            self.finish(cycle, world);
        }
        self.settings.checks.after(world);
        let all = free.table().len();
        // The cycle that was under way may have lost marks, too.
        let lost = self.lock().account.lost;
        let critical = all * self.critical_free_percent;
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
}
