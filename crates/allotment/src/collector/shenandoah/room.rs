//! A mutator that finds no memory, or asks for a collection.
//!
//! ```text
//! no room -> the world is stopped: the cycle that is under way ends there (degenerated)
//!         -> a whole cycle in the stop, unless the one under way freed nearly nothing
//!         -> full; the reserve for copies, or failure if collections take nearly all time
//!            (UseGCOverheadLimit)
//!         -> full, every region compacted, then all in one piece
//! ```

use super::Shenandoah;
use super::progress::Serving;
use super::scope::{Garbage, Scope};
use crate::collector::full::Compaction;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::USUAL;
use crate::collector::sizing::Extent;
use crate::mutator::{Cause, Mutator, Outcome, Shared, World};
use crate::region::FreeSet;
use crate::sync::Ordering;
use std::sync::Arc;
use std::time::Duration;

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
        if cause == Cause::Requested {
            return self.serve_request(mutator, satisfied);
        }
        if cause == Cause::Zeal && !self.passive.load(Ordering::Relaxed) {
            let turn = mutator.shared().threads.full_collections.load(Ordering::Relaxed);
            let garbage = if turn.is_multiple_of(ZEAL_GLOBAL) { Garbage::All } else { Garbage::Young };
            if !turn.is_multiple_of(ZEAL_STOPPED) && self.ask_for_cycle(mutator, garbage) {
                satisfied(mutator);
                return Outcome::Collected;
            }
        }
        self.stop_and_collect(mutator, cause, satisfied).unwrap_or(Outcome::Elsewhere)
    }

    /// Returns after a collection of all garbage that began after the call: a cycle beside threads,
    /// or a collection in a stop. The requests of several threads share one.
    fn serve_request(
        &self,
        mutator: &mut Mutator<'_>,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        // Before the first safepoint: the next collection in a stop finds the request.
        let number = self.progress.ask(Garbage::All);
        if !self.passive.load(Ordering::Relaxed) && self.await_cycle(mutator, number) {
            satisfied(mutator);
            return Outcome::Collected;
        }
        loop {
            mutator.let_others_go_on();
            if self.progress.has_ended(number) {
                return Outcome::Collected;
            }
            if let Some(outcome) = self.stop_and_collect(mutator, Cause::Requested, satisfied) {
                return outcome;
            }
        }
    }

    /// Stops the world and collects. `None`: another thread's stop came first.
    fn stop_and_collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Option<Outcome> {
        self.degenerating.fetch_add(1, Ordering::Relaxed);
        let stopped = mutator.raw_mut().stop_the_world(|world| {
            let (records, room) = self.collect_stopped(world, cause, satisfied);
            let serves = self.served_by(&records);
            (records, room, serves)
        });
        self.degenerating.fetch_sub(1, Ordering::Relaxed);
        // Before listeners are called, which may panic.
        let _serving = Serving(&self.progress, stopped.as_ref().map_or(0, |(_, _, serves)| *serves));
        self.publish();
        self.timer.regions_were_freed(&mutator.shared().space.free);
        let (records, room, _) = stopped?;
        let outcome = CollectionRecord::outcome_of(&records, room);
        self.history.add_stop(records);
        Some(outcome)
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
        let stopped = shared.stop_the_world(|world| {
            let (records, _) = self.collect_stopped(world, Cause::Interval, &mut |_| true);
            let serves = self.served_by(&records);
            (records, serves)
        });
        let stopped = stopped.ok().flatten();
        let _serving = Serving(&self.progress, stopped.as_ref().map_or(0, |(_, serves)| *serves));
        self.publish();
        if let Some((records, _)) = stopped {
            self.history.add_stop(records);
        }
    }

    /// The requests that full collections served in the stop that is under way: all before them.
    fn served_by(&self, records: &[CollectionRecord]) -> u64 {
        if records.is_empty() { 0 } else { self.progress.end() }
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
        let needs_room = cause == Cause::AllocationFailure;
        // The cycle that was under way may have freed enough. Or another thread has made room.
        let stopped = Duration::from_nanos(self.stopped_ns.load(Ordering::Relaxed));
        let mut has_gained =
            !self.ended_in_stop.load(Ordering::Relaxed) || self.has_gained(free, cause, stopped);
        if needs_room && has_gained && satisfied() {
            return (records, true);
        }
        self.settings.checks.before(world);
        // Cycles in stops that follow each other do not help: a full collection does more at once.
        let in_row = self.degenerated_in_row.load(Ordering::Relaxed);
        let helps = has_gained && in_row <= self.degenerated_threshold && !self.overhead.is_near(cause);
        if !needs_room || helps {
            let began = self.history.clock.age();
            let cycle = &mut *self.lock();
            if cause == Cause::Requested {
                self.progress.begin_stopped();
            }
            self.begin_cycle(cycle, shared, cause, Scope::Global);
            cycle.account.record.degenerated = Some("Outside of Cycle");
            self.finish(cycle, world);
            has_gained = self.has_gained(free, cause, began);
        }
        self.settings.checks.after(world);
        let all = free.table().len();
        // The cycle that was under way may have lost marks, too.
        let lost = self.lock().account.lost;
        if !lost && (has_gained || !needs_room) && cause != Cause::Zeal && satisfied() {
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

    /// Counts a cycle that ended in the stop that is under way, and took the time since `began`.
    /// Returns whether it freed so much that no full collection has to follow.
    fn has_gained(&self, free: &FreeSet, cause: Cause, began: Duration) -> bool {
        let critical = free.table().len() * self.critical_free_percent;
        let pause = self.history.clock.since(began);
        // Whatever its scope: a cycle compacts less than a full collection, so it costs time and is
        // not counted.
        let overhead = self.overhead.after(free, Extent::Young, cause, began, pause);
        let is_beyond = overhead.is_some_and(|overhead| overhead.is_beyond_limits());
        free.free_regions() * 100 >= critical && !is_beyond
    }
}
