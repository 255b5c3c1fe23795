//! The end of a cycle in the stopped world.
//!
//! A stopped world has no barriers: no reference may lead to an object that has moved. So a thread
//! that stops the world ends the cycle first. A cycle that moves nothing yet is given up, or, where
//! a mutator found no memory (a *degenerated* cycle), finished. A cycle that moves objects is
//! finished. Steps are those that run beside mutators, with more workers; the roots of all threads
//! are visited at once.

use super::Shenandoah;
use super::cycle::{Cycle, Step};
use super::engine::Engine;
use crate::collector::kernel::Phase;
use crate::collector::work::Team;
use crate::mutator::World;
use crate::object::{SlotKind, SlotVisitor, reference};
use crate::sync::Ordering;

/// Cycles in a row that stops give up. The next is finished in the stop, or a thread that stops the
/// world often would keep all cycles from their ends.
const MOST_GIVEN_UP: usize = 2;

impl Shenandoah {
    /// Ends the cycle that is under way, if there is one.
    pub(super) fn end_cycle(&self, world: &World<'_>) {
        let cycle = &mut *self.lock();
        match cycle.step {
            Step::Idle => return,
            Step::Reset | Step::InitMark => {
                self.note_given_up(cycle);
                self.engine.assists.end();
                cycle.step = Step::Idle;
            }
            // Not while weak slots are cleared: threads have seen null where slots do not hold it
            // yet.
            Step::Mark | Step::FinalMark | Step::BeginMove if self.may_give_up(cycle) => {
                self.note_given_up(cycle);
                self.engine.give_up(cycle, world);
            }
            step => {
                let has_moved = matches!(step, Step::EndMove | Step::Free);
                cycle.record.degenerated = if has_moved { None } else { Some(step.name()) };
                self.finish(cycle, world);
            }
        }
        world.set_barriers(self.engine.resting_barriers());
        world.end_root_visit();
    }

    /// The cycle ends without a record.
    pub(super) fn note_given_up(&self, cycle: &Cycle) {
        self.history.given_up(cycle.start, &cycle.phases, &cycle.record.pauses);
    }

    /// Whether the cycle may be given up: nobody needs its memory, and not all cycles end so. With
    /// a cycle that ends the marking of old objects the work of many would be lost.
    fn may_give_up(&self, cycle: &Cycle) -> bool {
        let ends_long_work = cycle.ends_old && !cycle.begins_old;
        !self.degenerates()
            && !ends_long_work
            && self.given_up_in_row.fetch_add(1, Ordering::Relaxed) < MOST_GIVEN_UP
    }

    /// Does all steps of the cycle that are left. Adds the record.
    pub(super) fn finish(&self, cycle: &mut Cycle, world: &World<'_>) {
        let pause = Phase::begin("Pause Degenerated");
        cycle.record.before_stop = Some(cycle.phases.len());
        let workers = self.gang.ready(self.gang.most());
        let team = Team::new(&self.gang, workers).helped_by(world.volunteers());
        self.engine.interrupt.ignore(true);
        self.engine.finish(cycle, world, team);
        self.engine.interrupt.ignore(false);
        world.set_barriers(self.engine.resting_barriers());
        let (pause, before) = (pause.end(), world.take_time_to_safepoint());
        cycle.add_pause(pause.began_earlier(before), before);
        self.history.occupancy(&world.shared().space.free);
        self.cycle_ended(cycle, world.shared());
    }
}

impl Engine {
    /// Forgets a cycle that has moved nothing.
    fn give_up(&self, cycle: &mut Cycle, world: &World<'_>) {
        self.leftover.forget();
        self.weak_objects.forget();
        self.give_up_young(cycle, world.shared());
        self.copies.close(world.shared());
        self.assists.end();
        cycle.step = Step::Idle;
    }

    fn finish(&self, cycle: &mut Cycle, world: &World<'_>, team: Team<'_>) {
        let shared = world.shared();
        while cycle.step != Step::Idle {
            let phase = Phase::begin(cycle.step.name());
            cycle.step = match cycle.step {
                Step::Reset => {
                    self.reset(cycle, shared);
                    Step::InitMark
                }
                Step::InitMark => {
                    self.begin_marking(cycle, shared);
                    Step::Mark
                }
                Step::Mark => {
                    self.mark_roots(world);
                    self.trace(cycle, shared, team);
                    Step::FinalMark
                }
                Step::FinalMark => {
                    // First: what threads that are not attached record comes from under the locks
                    // of handles, and must not be left in the queue.
                    self.close_marking(cycle);
                    world.set_barriers(self.resting_barriers());
                    self.mark_stopped(cycle, shared, || false);
                    cycle.lost = self.has_lost(shared);
                    if cycle.lost {
                        self.forget_old(shared);
                        Step::Idle
                    } else {
                        Step::Weak
                    }
                }
                Step::Weak => {
                    self.weak(cycle, shared, team);
                    self.clear_weak_roots(world);
                    Step::BeginMove
                }
                Step::BeginMove => {
                    world.visit_pinned(&mut |address| self.leave(shared, address));
                    if self.fix_set(cycle, shared) { Step::Evacuate } else { Step::Free }
                }
                Step::Evacuate => {
                    self.free_immediate(cycle, shared);
                    self.forward_roots(world);
                    self.copy(cycle, shared, team);
                    Step::Update
                }
                Step::Update => {
                    self.update(cycle, shared, team);
                    Step::EndMove
                }
                Step::EndMove => self.end_move(cycle, shared),
                Step::Free => {
                    self.free(cycle, shared, team);
                    Step::Idle
                }
                Step::Idle => Step::Idle,
            };
            cycle.phases.push(phase.end());
        }
        self.copies.close(shared);
    }

    /// Lets marking find what roots refer to.
    fn mark_roots(&self, world: &World<'_>) {
        let shared = world.shared();
        let mut roots = Vec::new();
        world.visit_roots(&mut SlotVisitor::new(&mut |slot, kind| {
            if kind == SlotKind::Strong {
                // SAFETY: a root slot of a stopped world.
                self.note_root(shared, &mut roots, unsafe { slot.read() });
            }
        }));
        world.visit_pinned(&mut |address| self.note_root(shared, &mut roots, address as u64));
        shared.threads.satb.give(roots);
    }

    /// Weak root slots of dead objects become null. Handles are done already; providers have
    /// others.
    fn clear_weak_roots(&self, world: &World<'_>) {
        let free = &world.shared().space.free;
        world.visit_roots(&mut SlotVisitor::new(&mut |slot, kind| {
            // SAFETY: a root slot of a stopped world.
            let bits = unsafe { slot.read() };
            let dead = |address| !self.tables.is_live(free, address);
            if kind == SlotKind::Weak && reference(bits).is_some_and(dead) {
                // SAFETY: as above.
                unsafe { slot.write(0) };
            }
        }));
    }

    /// Gives all roots the places of their referents.
    fn forward_roots(&self, world: &World<'_>) {
        let shared = world.shared();
        world.visit_roots(&mut SlotVisitor::new(&mut |slot, _| {
            // SAFETY: a root slot of a stopped world.
            unsafe { self.forward_slot(shared, slot) };
        }));
    }
}
