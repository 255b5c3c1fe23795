//! The begin and the end of a cycle in the collector's books: the record of the cycle, the news for
//! the trigger, and the part of the heap that mutators may use afterwards.
//!
//! A cycle may end under a lock or in a stop, where no listener may be called. So its record waits
//! until it is [published](Shenandoah::publish).

use super::Shenandoah;
use super::account::{Account, Before};
use super::advice::{Line, Setup};
use super::cycle::Cycle;
use super::progress::Serving;
use super::scope::Scope;
use super::trigger::{Advice, CycleKind, Ended};
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

/// A collection that ends, for the trigger.
pub(super) struct Lesson {
    pub(super) kind: CycleKind,
    /// When it began, in the heap's age.
    pub(super) began: Duration,
    /// The time of the stop in which it ended; 0 if it ended beside mutators.
    pub(super) stopped: Duration,
    /// Mutators had to wait for it.
    pub(super) was_behind: bool,
    pub(super) before: Before,
}

impl Shenandoah {
    /// Makes `cycle` a new one.
    pub(super) fn begin_cycle(&self, cycle: &mut Cycle, shared: &Shared, cause: Cause, scope: Scope) {
        let free = &shared.space.free;
        free.age_quarantine();
        self.engine.assisted.begin();
        // Of a cycle that was given up.
        self.engine.assisted.take_found();
        if scope.begins_old() {
            // The marks of old objects are cleared next.
            self.engine.forget_old(shared);
        }
        let (start, used_before) = (self.history.begin(free), free.occupancy().used_bytes);
        let before = self.before(free);
        *cycle = Cycle::begin(Account { before, ..Account::new(cause, scope, start, used_before) });
    }

    /// The heap before a collection.
    pub(super) fn before(&self, free: &FreeSet) -> Before {
        Before {
            in_use_bytes: free.regions_in_use() << free.table().geometry().region_shift,
            taken_bytes: free.taken_bytes(),
            goal_regions: self.goal.regions(free.capacity()),
        }
    }

    /// Notes the end of a cycle.
    pub(super) fn cycle_ended(&self, cycle: &mut Cycle, shared: &Shared) {
        let account = &mut cycle.account;
        self.engine.pacer.end();
        let counts = self.engine.assisted.take();
        (account.record.assists, account.record.assist_time) = (counts.slices, counts.slice_time);
        (account.record.pacing_waits, account.record.pacing_time) = (counts.waits, counts.wait_time);
        account.record.longest_pacing_wait = counts.longest_wait;
        let threads = shared.threads.registry.count().max(1) as u32;
        self.overhead.helped((counts.slice_time + counts.wait_time) / threads);
        if account.record.degenerated.is_none() {
            self.overhead.freed_beside(&shared.space.free);
        }
        match account.record.before_stop {
            None => self.fit_capacity_beside(shared),
            Some(_) => self.fit_capacity(shared),
        }
        account.record.advice = self.learn_from_cycle(account, shared);
        // Not before: a mutator would look with the numbers of the last cycle, and fire.
        self.engine.assisted.end();
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
        if let Some(old) = &self.engine.old {
            let (percent, is_marking) = (self.engine.choice.min_free_percent, self.engine.marks_old());
            old.plan().cycle_ended(account, &shared.space.free, percent, is_marking);
        }
    }

    /// Tells the trigger of a cycle that ends. Returns the line for its record, mostly empty.
    fn learn_from_cycle(&self, account: &Account, shared: &Shared) -> String {
        // Other stops than those for memory find a cycle under way that would have come in time.
        let is_for_memory = self.degenerating.load(Ordering::Relaxed) > 0;
        let kind = match account.record {
            CycleDetails { degenerated: Some(_), .. } if is_for_memory => CycleKind::Degenerated,
            _ if account.skips_set => CycleKind::Skipped,
            CycleDetails { set_regions: 0, .. } => CycleKind::Abbreviated,
            _ => CycleKind::Concurrent,
        };
        let pauses = &account.record.pauses;
        let in_stop = pauses.last().filter(|_| account.record.before_stop.is_some());
        let lesson = Lesson {
            kind,
            began: account.start,
            stopped: in_stop.map_or(Duration::ZERO, |pause| pause.time),
            was_behind: account.record.pacing_waits > 0,
            before: account.before,
        };
        let setup = Setup {
            heap_bytes: shared.space.free.table().geometry().heap_bytes(),
            workers: self.workers.most(),
            most_workers: self.gang.most(),
        };
        let advice = self.learn(lesson, shared);
        advice.map_or_else(String::new, |advice| Line(advice, setup).to_string())
    }

    /// Notes that a cycle ends without a record.
    pub(super) fn note_given_up(&self, account: &Account) {
        self.engine.assisted.end();
        self.engine.pacer.end();
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
            details: Details::Cycle(Box::new(CycleDetails {
                recorded_words: found.recorded,
                generations,
                ..details
            })),
            sizing: None,
            overhead: None,
        }
    }

    /// Tells the trigger how a collection went that ends now.
    ///
    /// A stop of `s` with `p` workers does the work of `s * p / c` beside mutators, where `c`
    /// workers are at it. So a cycle of which `b` ran beside mutators would have taken
    /// `b + s * p / c`. Where work cannot be shared (a long list), this is too much: then the next
    /// cycle begins too early, and its time is learnt.
    pub(super) fn learn(&self, lesson: Lesson, shared: &Shared) -> Option<Advice> {
        let Lesson { kind, began, stopped, was_behind, before } = lesson;
        let free = &shared.space.free;
        let ended = self.history.clock.age();
        let stopped = stopped.min(ended.saturating_sub(began));
        let fewer = self.gang.most().max(1) as f64 / self.workers.most().max(1) as f64;
        let time = ended.saturating_sub(began) - stopped + stopped.mul_f64(fewer.max(1.0));
        self.goal.cycle_ended(began..ended, free.regions_in_use(), free.capacity());
        let GoalMemory { free_bytes, capacity_bytes } = self.goal_memory(free);
        let left_bytes = free.regions_left() << free.table().geometry().region_shift;
        let now = self.before(free);
        free.forget_wanted_run();
        let taken_bytes = now.taken_bytes.saturating_sub(before.taken_bytes) as usize;
        let freed_bytes = (before.in_use_bytes + taken_bytes).saturating_sub(now.in_use_bytes);
        // If it fired for a cycle that a stop has made meanwhile, another one would find little.
        self.progress.forget_trigger();
        let mut trigger = self.trigger.lock().expect(POISONED);
        trigger.stood_still(stopped);
        trigger.sample(ended, capacity_bytes, now.taken_bytes);
        trigger.cycle_ended(Ended {
            ended,
            time,
            kind,
            was_behind,
            taken_bytes,
            freed_bytes,
            free_bytes,
            capacity_bytes,
            left_bytes,
        })
    }

    /// The memory within the goal.
    pub(super) fn goal_memory(&self, free: &FreeSet) -> GoalMemory {
        let (goal, bytes) = (self.goal.regions(free.capacity()), free.table().geometry().region_bytes());
        let free_bytes = goal.saturating_sub(free.regions_in_use()) * bytes;
        GoalMemory { free_bytes, capacity_bytes: goal * bytes }
    }

    /// Bytes of the heap that the program will want soon.
    pub(super) fn bytes_wanted_soon(&self, free: &FreeSet) -> usize {
        let regions = self.goal.regions_wanted_soon(self.history.clock.age(), free.capacity());
        regions * free.table().geometry().region_bytes()
    }

    /// Lets mutators use the heap except the reserve for copies, or all of the heap if live objects
    /// leave no room for a reserve.
    pub(super) fn fit_capacity(&self, shared: &Shared) {
        let free = &shared.space.free;
        let all = free.table().len();
        let few = free.free_regions() <= 2 * self.engine.reserve;
        free.set_capacity(if few { all } else { all - self.engine.reserve });
    }

    /// Lets mutators use the heap after a cycle that ended beside them: at least half of the free
    /// regions. The others are the reserve for copies, without which the next cycle could move
    /// nothing. After a cycle that came too late a full collection makes more room than a small
    /// reserve ([`fit_capacity`](Self::fit_capacity)).
    fn fit_capacity_beside(&self, shared: &Shared) {
        let free = &shared.space.free;
        let reserve = self.engine.reserve.min(free.free_regions() / 2);
        free.set_capacity(free.table().len() - reserve);
    }

    /// Adds the records of ended cycles to the history. Tells listeners and the threads that wait.
    /// Not in a stop.
    pub(super) fn publish(&self) {
        let records = std::mem::take(&mut *self.finished.lock().expect(POISONED));
        // Even if a listener panics: no other cycle would serve these requests.
        let serves = records.iter().map(|(_, serves)| *serves).max().unwrap_or(0);
        let _serving = Serving(&self.progress, serves);
        records.into_iter().for_each(|(record, _)| self.history.add(record));
    }
}
