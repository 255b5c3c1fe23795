//! The control thread drives cycles from step to step, and other threads wait for the end of one.
//!
//! The thread starts at the first request and parks while nothing is wanted. It makes all pauses.
//! It holds the lock of the cycle during a step beside mutators, never while it asks for a stop. A
//! thread that stops the world *halts* it: it raises a count, interrupts the workers, and has the
//! lock of the cycle when they are through their pieces.

use super::Shenandoah;
use super::bookkeeping::GoalMemory;
use super::cycle::{Cycle, Stage};
use super::place::{Place, Work};
use super::progress::CycleRequest;
use super::scope::{Garbage, Scope};
use crate::collector::concurrent::passage;
use crate::collector::control::Watch;
use crate::collector::kernel::Phase;
use crate::collector::verify::Checks;
use crate::mutator::{AbortOnUnwind, Mutator, Shared, World};
use crate::region::WantedRun;
use crate::sync::{MutexGuard, Ordering, POISONED};
use std::sync::Weak;
use std::time::Duration;

/// Runs code that holds the cycle's lock. If the code panics, the process ends here: a poisoned
/// lock would end the process in the next stop, without the reason.
fn guarded(body: impl FnOnce()) {
    let abort =
        AbortOnUnwind::new("code of a concurrent cycle panicked (see above): the heap may be half changed");
    body();
    abort.disarm();
}

/// The control thread's watch. It keeps the heap alive during a cycle only.
struct Cycles {
    collector: Weak<Shenandoah>,
    shared: Weak<Shared>,
}

/// The control thread at its work. If the thread panics, no thread drives the cycle any more. Then
/// waits for the cycle end, and no thread pays for it.
pub(super) struct Driving<'c>(&'c Shenandoah);

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.progress.driver_died();
            self.0.engine.pacer.end();
            self.0.engine.assisted.end();
        }
    }
}

impl Watch for Cycles {
    fn look(&mut self, _begins: bool) -> Option<Duration> {
        let (shared, collector) = (self.shared.upgrade()?, self.collector.upgrade()?);
        // First: later requests make the thread look again.
        collector.control.rest();
        let _driving = collector.drive();
        collector.run_cycles(&shared);
        collector.timer.regions_were_freed(&shared.space.free);
        Some(Duration::ZERO)
    }
}

impl Shenandoah {
    /// Makes this thread the control thread, until the guard is dropped.
    pub(super) fn drive(&self) -> Driving<'_> {
        self.progress.drive();
        Driving(self)
    }

    /// Looks whether a cycle should begin, for a mutator that took memory from another region.
    pub(super) fn look(&self, mutator: &Mutator<'_>) {
        if self.passive.load(Ordering::Relaxed) {
            return;
        }
        let free = &mutator.shared().space.free;
        // Otherwise another thread holds the lock, and looks.
        let Ok(mut trigger) = self.trigger.try_lock() else { return };
        let now = self.history.clock.age();
        let GoalMemory { free_bytes, capacity_bytes } = self.goal_memory(free);
        if self.engine.assisted.has_cycle() {
            return trigger.sample(now, capacity_bytes, free.taken_bytes());
        }
        let mut reason = trigger.look(now, free_bytes, capacity_bytes, free.taken_bytes());
        if reason.is_none()
            && let Some(WantedRun { regions, free_bytes }) = free.wanted_run()
        {
            reason = trigger.look_for_runs(regions, free_bytes, free.table().geometry().region_bytes());
        }
        drop(trigger);
        let Some(reason) = reason else { return };
        self.progress.fire(reason);
        // Even if a trigger has fired before: a child of `fork()` has no thread that heard of it.
        self.wake(|| mutator.downgrade());
    }

    /// Lets the control thread look. Returns `false` if there is none.
    pub(super) fn wake(&self, shared: impl FnOnce() -> Weak<Shared>) -> bool {
        if self.engine.marks_old() && !self.engine.assisted.has_cycle() {
            // A cycle comes before the marking of old objects, which goes on after it.
            self.engine.interrupt.set(true);
        }
        let watch = || Cycles { collector: self.me.clone(), shared: shared() };
        self.control.ask(&self.workers.cpus(), watch)
    }

    /// Waits, in `blocking`, until a collection has served request `number`. Returns `false` if
    /// there is no control thread.
    pub(super) fn await_cycle(&self, mutator: &mut Mutator<'_>, number: u64) -> bool {
        // A listener on that thread would wait for itself.
        if self.progress.is_driver() {
            return false;
        }
        self.wake(|| mutator.downgrade()) && mutator.blocking(|| self.progress.wait_for(number))
    }

    /// Asks for a cycle that finds `garbage`, and does not wait. Returns `false` if there is no
    /// control thread.
    pub(super) fn ask_for_cycle(&self, mutator: &Mutator<'_>, garbage: Garbage) -> bool {
        self.progress.ask(garbage);
        self.wake(|| mutator.downgrade())
    }

    /// Drives cycles as long as one is wanted.
    fn run_cycles(&self, shared: &Shared) {
        loop {
            self.publish();
            passage();
            let mut cycle = self.lock_unhalted();
            let stage = cycle.stage();
            if stage != Stage::Idle {
                // A child of `fork()` goes on with the cycle of its parent.
                self.engine.assisted.begin();
            }
            if stage == Stage::Idle {
                if !self.progress.is_wanted() {
                    if self.engine.has_old_to_mark() {
                        guarded(|| self.mark_between_cycles(shared));
                        continue;
                    }
                    if let Some(reason) = self.engine.hurry_for_old() {
                        self.progress.fire(format!("Trigger: {reason}"));
                        continue;
                    }
                    drop(cycle);
                    // A stop may have ended the cycle since.
                    return self.publish();
                }
                if self.settings.checks.before {
                    drop(cycle);
                    self.check(shared, Checks::before);
                    cycle = self.lock_unhalted();
                }
                // A thread that stopped the world may have done a whole cycle.
                if cycle.is_idle() {
                    guarded(|| self.begin(&mut cycle, shared));
                }
            } else if stage.is_pause() {
                drop(cycle);
                self.pause(stage, shared);
            } else {
                guarded(|| self.step_beside(&mut cycle, shared));
                let has_ended = cycle.is_idle();
                drop(cycle);
                if has_ended && self.settings.checks.after {
                    self.check(shared, Checks::after);
                }
            }
        }
    }

    /// Does a step beside mutators.
    pub(super) fn step_beside(&self, cycle: &mut Cycle, shared: &Shared) {
        let phase = Phase::begin(cycle.stage().name());
        let work =
            Work { shared, workers: self.workers.all(), interrupt: &self.engine.interrupt, world: None };
        cycle.advance(&self.engine, Place::Work(work));
        let phase = phase.end();
        cycle.account.record.concurrent_time += phase.time;
        cycle.account.add_phase(phase);
        self.history.occupancy(&shared.space.free);
        if cycle.is_idle() {
            self.cycle_ended(cycle, shared);
            // Under the lock: a checker that has halted workers wants regions at rest.
            self.uncommit(shared);
        }
    }

    /// Marks old objects between cycles.
    fn mark_between_cycles(&self, shared: &Shared) {
        self.history.between_cycles(self.engine.mark_old(shared, self.workers.all()));
    }

    /// Gives memory that was free for long back to the system, until a thread stops the world. What
    /// the program will want soon stays.
    fn uncommit(&self, shared: &Shared) {
        // A thread whose stop came first has the lock, and uncommits by itself.
        let Some(_regions) = shared.space.try_lock_regions() else { return };
        let (settings, free) = (&self.settings, &shared.space.free);
        let keep_bytes = settings.keep_bytes.max(self.bytes_wanted_soon(free));
        let goes_on = |_| !self.engine.interrupt.is_set();
        let now_ms = shared.watch.clock.coarse_ms();
        free.uncommit_idle(now_ms, settings.uncommit_delay_ms, keep_bytes, goes_on);
    }

    /// Does a step in a pause, unless another thread has ended the cycle meanwhile.
    pub(super) fn pause(&self, stage: Stage, shared: &Shared) {
        let phase = Phase::begin(stage.name());
        let lost = shared.pause(|pause| {
            let mut cycle = self.lock();
            if cycle.stage() != stage {
                return None;
            }
            cycle.advance(&self.engine, Place::Pause(pause));
            // Here: another thread may end the cycle right after this stop.
            let phase = phase.so_far();
            let account = &mut cycle.account;
            account.add_phase(phase);
            account.add_pause(phase, pause.time_to_safepoint);
            if account.lost {
                self.note_given_up(account);
            }
            Some(account.lost)
        });
        let phase = phase.end();
        let Some(Some(lost)) = lost else { return };
        // The resumption belongs to the pause.
        self.lock().account.lengthen_pause(phase);
        self.history.occupancy(&shared.space.free);
        if lost {
            self.collect_for_lost_marks(shared);
        }
    }

    /// The lock of the cycle, while no thread has halted the workers.
    pub(super) fn lock_unhalted(&self) -> MutexGuard<'_, Cycle> {
        let mut cycle = self.lock();
        loop {
            // In this order: a thread that halts raises the count first, and then interrupts.
            self.engine.interrupt.set(false);
            if self.halts.load(Ordering::SeqCst) == 0 {
                return cycle;
            }
            cycle = self.goes_on.wait(cycle).expect(POISONED);
        }
    }

    /// Checks the heap in a stop, as `VerifyBeforeGC` and `VerifyAfterGC` want it.
    fn check(&self, shared: &Shared, check: impl Fn(Checks, &World<'_>)) {
        // If another thread's stop came first, that thread has checked, or does not collect.
        let _ = shared.stop_the_world(|world| check(self.settings.checks, world));
    }

    /// Begins a cycle.
    fn begin(&self, cycle: &mut Cycle, shared: &Shared) {
        let CycleRequest { cause, garbage, trigger } = self.progress.begin();
        let scope = self.engine.old.as_ref();
        let scope = scope.map_or(Scope::Global, |old| old.plan().next(garbage, self.engine.marks_old()));
        self.begin_cycle(cycle, shared, cause, scope);
        cycle.account.record.trigger = trigger.unwrap_or_default();
    }
}
