//! The begin and the end of a cycle in the collector's books: the record of the cycle, the news for
//! the trigger, and the part of the heap that mutators may use afterwards.
//!
//! A cycle may end under a lock or in a stop, where no listener may be called. So its record waits
//! until it is [published](Shenandoah::publish).

use super::Shenandoah;
use super::account::Account;
use super::cycle::Cycle;
use super::progress::Serving;
use super::scope::Scope;
use super::trigger::{CycleKind, Ended};
use crate::collector::record::{CollectionRecord, CycleDetails, Details, WantedWorkers};
use crate::mutator::{Cause, Shared};
use crate::region::FreeSet;
use crate::sync::{Ordering, POISONED};
use crate::tlab::statistics::TlabTotals;
use std::time::Duration;

/// The memory within the [goal](super::goal).
pub(super) struct GoalMemory {
    pub(super) free_bytes: usize,
    pub(super) capacity_bytes: usize,
}

impl Shenandoah {
    /// Makes `cycle` a new one.
    pub(super) fn begin_cycle(&self, cycle: &mut Cycle, shared: &Shared, cause: Cause, scope: Scope) {
        let free = &shared.space.free;
        free.age_quarantine();
        self.engine.assisted.begin(free.regions_left());
        // Of a cycle that was given up.
        self.engine.assisted.take_found();
        if scope.begins_old() {
            // The marks of old objects are cleared next.
            self.engine.forget_old(shared);
        }
        let (start, used_before) = (self.history.begin(free), free.occupancy().used_bytes);
        *cycle = Cycle::begin(Account::new(cause, scope, start, used_before));
    }

    /// Notes the end of a cycle.
    pub(super) fn cycle_ended(&self, cycle: &mut Cycle, shared: &Shared) {
        let account = &mut cycle.account;
        self.engine.assisted.end();
        (account.record.assists, account.record.assist_time) = self.engine.assisted.take();
        let threads = shared.threads.registry.count().max(1) as u32;
        self.overhead.helped(account.record.assist_time / threads);
        if account.record.degenerated.is_none() {
            self.overhead.freed_beside(&shared.space.free);
        }
        let record = self.record_of(account, shared);
        // A full collection follows, and serves.
        let serves = if account.lost { 0 } else { self.progress.end() };
        self.finished.lock().expect(POISONED).push((record, serves));
        if !account.lost {
            shared.threads.full_collections.fetch_add(1, Ordering::Relaxed);
        }
        self.given_up_in_row.store(0, Ordering::Relaxed);
        match account.record.degenerated {
            None => self.degenerated_in_row.store(0, Ordering::Relaxed),
            Some(_) => drop(self.degenerated_in_row.fetch_add(1, Ordering::Relaxed)),
        }
        self.fit_capacity(shared);
        if let Some(old) = &self.engine.old {
            let (percent, is_marking) = (self.engine.choice.min_free_percent, self.engine.marks_old());
            old.plan().cycle_ended(account, &shared.space.free, percent, is_marking);
        }
        let kind = match account.record {
            CycleDetails { degenerated: Some(_), .. } => CycleKind::Degenerated,
            CycleDetails { set_regions: 0, .. } => CycleKind::Abbreviated,
            _ => CycleKind::Concurrent,
        };
        self.learn(kind, account.start, shared);
    }

    /// Notes that a cycle ends without a record.
    pub(super) fn note_given_up(&self, account: &Account) {
        self.engine.assisted.end();
        self.history.given_up(account.start, &account.phases, &account.record.pauses);
    }

    /// The record of a cycle that ends.
    fn record_of(&self, account: &mut Account, shared: &Shared) -> CollectionRecord {
        let Account { cause, start, used_before, found, weak_cleared, .. } = *account;
        let free = &shared.space.free;
        let is_marking = self.engine.marks_old();
        let generations = self.engine.old.as_ref().map(|old| old.record_of(account, free, is_marking));
        let (details, phases) = (account.record.clone(), std::mem::take(&mut account.phases));
        let most = self.workers.most();
        CollectionRecord {
            number: 0,
            cause,
            start,
            pause: details.paused(),
            time_to_safepoint: details.times_to_safepoint.iter().max().copied().unwrap_or_default(),
            phases,
            workers: most,
            wanted: WantedWorkers { workers: most, most, bytes: used_before },
            used_before,
            used_after: free.occupancy().used_bytes,
            committed: free.committed_bytes(),
            live_objects: found.objects as usize,
            live_bytes: found.bytes as usize,
            moved_bytes: details.moved_by_workers + details.moved_by_mutators,
            weak_cleared: weak_cleared as usize,
            uncommitted: 0,
            buffers: TlabTotals::default(),
            details: Details::Cycle(CycleDetails { recorded_words: found.recorded, generations, ..details }),
            sizing: None,
            overhead: None,
        }
    }

    /// Tells the trigger how long the cycle took that began at `began`, and how it ended.
    pub(super) fn learn(&self, kind: CycleKind, began: Duration, shared: &Shared) {
        let free = &shared.space.free;
        let ended = self.history.clock.age();
        self.goal.cycle_ended(began..ended, free.regions_in_use(), free.capacity());
        let GoalMemory { free_bytes, capacity_bytes } = self.goal_memory(free);
        let mut trigger = self.trigger.lock().expect(POISONED);
        trigger.sample(ended, capacity_bytes, free.taken_bytes());
        trigger.cycle_ended(Ended { began, ended, kind, free_bytes, capacity_bytes });
    }

    /// The memory within the goal.
    pub(super) fn goal_memory(&self, free: &FreeSet) -> GoalMemory {
        let (goal, bytes) = (self.goal.regions(free.capacity()), free.table().geometry().region_bytes());
        let free_bytes = goal.saturating_sub(free.regions_in_use()) * bytes;
        GoalMemory { free_bytes, capacity_bytes: goal * bytes }
    }

    /// Lets mutators use the heap except the reserve for copies, or all of the heap if live objects
    /// leave no room for a reserve.
    pub(super) fn fit_capacity(&self, shared: &Shared) {
        let free = &shared.space.free;
        let all = free.table().len();
        let few = free.free_regions() <= 2 * self.engine.reserve;
        free.set_capacity(if few { all } else { all - self.engine.reserve });
    }

    /// Adds the records of ended cycles to the history. Tells listeners and the threads that wait.
    /// Not in a stop.
    pub(super) fn publish(&self) {
        let records = std::mem::take(&mut *self.finished.lock().expect(POISONED));
        for (record, serves) in records {
            let _serving = Serving(&self.progress, serves);
            self.history.add(record);
        }
    }
}
