//! The end of a cycle in the stopped world.
//!
//! A stopped world has no barriers: no reference may lead to an object that has moved. So a thread
//! that stops the world ends the cycle first. A cycle that has not moved any object is given up, or
//! finished if a mutator found no memory (a *degenerated* cycle). A cycle that moves objects is
//! finished: its steps continue where they are, with more workers and without an interrupt
//! ([`Work::world`]).

use super::Shenandoah;
use super::account::Account;
use super::cycle::{Cycle, Stage};
use super::place::{Place, Work};
use super::scope::Scope;
use crate::collector::concurrent::Interrupt;
use crate::collector::kernel::Phase;
use crate::mutator::World;
use crate::sync::Ordering;

/// Cycles in a row that stops give up. The next one is finished in the stop. Otherwise a thread
/// that stops the world often would keep all cycles from their ends.
const MOST_GIVEN_UP: usize = 2;

impl Shenandoah {
    /// Ends the cycle that is under way, if there is one.
    pub(super) fn end_cycle(&self, world: &World<'_>) {
        let cycle = &mut *self.lock();
        match cycle.stage() {
            Stage::Idle => return,
            Stage::Reset | Stage::InitMark => {
                self.note_given_up(&cycle.account);
                cycle.abandon();
            }
            // Not while weak slots are cleared: threads have seen null where slots do not hold it
            // yet.
            Stage::Mark | Stage::FinalMark | Stage::BeginMove if self.may_give_up(&cycle.account) => {
                self.note_given_up(&cycle.account);
                self.engine.left.forget();
                self.engine.give_up_young(cycle.account.scope, world.shared());
                self.engine.copies.close(world.shared());
                cycle.abandon();
            }
            stage => {
                let has_moved = matches!(stage, Stage::EndMove | Stage::Free);
                cycle.account.record.degenerated = if has_moved { None } else { Some(stage.name()) };
                self.finish(cycle, world);
            }
        }
        world.set_barriers(self.engine.resting_barriers());
        world.end_root_visit();
    }

    /// Whether the cycle may be given up: no thread needs its memory, and not all cycles end so. A
    /// cycle that ends the marking of old objects is not given up: the marking took many cycles.
    fn may_give_up(&self, account: &Account) -> bool {
        self.degenerating.load(Ordering::Relaxed) == 0
            && account.scope != Scope::YoungEndsOld
            && self.given_up_in_row.fetch_add(1, Ordering::Relaxed) < MOST_GIVEN_UP
    }

    /// Does the steps of the cycle that are left. Adds the record.
    pub(super) fn finish(&self, cycle: &mut Cycle, world: &World<'_>) {
        let pause = Phase::begin("Pause Degenerated");
        cycle.account.record.before_stop = Some(cycle.account.phases.len());
        let (shared, never) = (world.shared(), Interrupt::default());
        let workers = self.gang.all().helped_by(world.volunteers());
        let work = Work { shared, workers, interrupt: &never, world: Some(world) };
        while !cycle.is_idle() {
            let phase = Phase::begin(cycle.stage().name());
            cycle.advance(&self.engine, Place::Work(work));
            cycle.account.phases.push(phase.end());
        }
        self.engine.copies.close(shared);
        world.set_barriers(self.engine.resting_barriers());
        let (pause, before) = (pause.end(), world.take_time_to_safepoint());
        cycle.account.add_pause(pause.began_earlier(before), before);
        self.history.occupancy(&shared.space.free);
        self.cycle_ended(cycle, shared);
        self.ended_in_stop.store(true, Ordering::Relaxed);
    }
}
