//! The steps of a cycle in which no span is open.
//!
//! None of them looks at a thread or at roots in frames. Only a pass over the borders of regions in
//! use grows with the heap. The last step also walks regions in which copies found no memory.

use super::POISONED;
use super::cycle::{Cycle, Step};
use super::engine::Engine;
#[cfg(test)]
use crate::collector::concurrent::check_remembered;
use crate::collector::concurrent::{Marker, Membership};
use crate::mutator::{Hot, Pause, Shared};
use crate::object::{SlotVisitor, reference, with_reference};
use crate::region::State;
use std::time::{Duration, Instant};

/// Time for which a stop marks what mutators recorded last. Words that are left then are marked
/// beside mutators.
const MOST_MARKING: Duration = Duration::from_micros(200);

impl Engine {
    /// Does a step that needs a stop, and goes to the next.
    pub(super) fn pause_step(&self, cycle: &mut Cycle, pause: &Pause<'_>) {
        cycle.step = match cycle.step {
            Step::InitMark => self.init_mark(cycle, pause),
            Step::FinalMark => self.final_mark(cycle, pause),
            Step::BeginMove => self.begin_move(cycle, pause),
            Step::EndMove => {
                pause.set_barriers(self.resting_barriers());
                self.end_move(cycle, pause.shared())
            }
            step => unreachable!("{step:?} needs no stop"),
        };
    }

    fn init_mark(&self, cycle: &mut Cycle, pause: &Pause<'_>) -> Step {
        let shared = pause.shared();
        self.begin_marking(cycle, shared);
        pause.set_barriers(Hot::MARKING);
        pause.begin_root_visit();
        let mut roots = Vec::new();
        let mut words = Vec::new();
        pause.visit_providers(
            // A weak word of a provider counts as a strong one: the provider reads it without a
            // barrier.
            &mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: a provider's slot, which may be read until the visit ends.
                self.note_root(shared, &mut roots, unsafe { slot.read() });
            }),
            &mut |address| self.note_root(shared, &mut words, address as u64),
        );
        shared.threads.satb.give(roots);
        shared.threads.satb.give(words);
        Step::Mark
    }

    /// Sets the borders of regions, and forgets what is left of earlier markings. In a stop.
    pub(super) fn begin_marking(&self, cycle: &mut Cycle, shared: &Shared) {
        let (free, table) = (&shared.space.free, shared.space.free.table());
        self.leftover.forget();
        self.weak_objects.forget();
        self.take_over_old(cycle, shared);
        free.forget_spares();
        let mut to_scan = Vec::new();
        for index in free.in_use() {
            let is_old = table.get(index).is_tenured();
            if cycle.begins_old || !is_old {
                table.set_mark_start(index);
                self.tables.open_region(index);
            }
            if is_old && !cycle.is_global() && table.get(index).state().begins_objects() {
                to_scan.push((index, 0));
            }
        }
        if let Some(old) = &self.old {
            old.to_scan.fill(to_scan);
        }
        self.tables.set_scope(self.scope_of(cycle));
    }

    fn final_mark(&self, cycle: &mut Cycle, pause: &Pause<'_>) -> Step {
        let shared = pause.shared();
        // First: what threads that are not attached record comes from under the locks of handles.
        self.close_marking(cycle);
        pause.set_barriers(self.resting_barriers());
        let begun = Instant::now();
        let marked = self.mark_stopped(cycle, shared, || begun.elapsed() > MOST_MARKING);
        if self.has_lost(shared) {
            // A stopped collection follows.
            self.forget_old(shared);
            pause.set_barriers(0);
            self.assists.end();
            return Step::Idle;
        }
        if !marked {
            self.tables.set_scope(self.scope_of(cycle));
            pause.set_barriers(Hot::MARKING);
            return Step::Mark;
        }
        pause.set_barriers(Hot::WEAK | self.resting_barriers());
        Step::Weak
    }

    /// Marks what is left and recorded, on this thread, until nothing is or until `enough`. Returns
    /// whether nothing is left.
    pub(super) fn mark_stopped(
        &self,
        cycle: &mut Cycle,
        shared: &Shared,
        enough: impl FnMut() -> bool,
    ) -> bool {
        let Ok(crew) = self.crews.take(1, self.stack) else {
            self.leftover.lose();
            return true;
        };
        let marking = self.marking(shared, self.scope_of(cycle));
        let mut marker = Marker::new(&shared.space, marking, crew.worker(0));
        let done = marker.drain_stopped(enough);
        cycle.found.add(marker.finish());
        self.crews.keep(crew);
        done
    }

    fn begin_move(&self, cycle: &mut Cycle, pause: &Pause<'_>) -> Step {
        let shared = pause.shared();
        shared.threads.roots.visit_pins(&mut |address| self.leave(shared, address));
        pause.visit_providers(&mut SlotVisitor::new(&mut |_, _| {}), &mut |address| {
            self.leave(shared, address);
        });
        if !self.fix_set(cycle, shared) {
            pause.set_barriers(self.resting_barriers());
            return Step::Free;
        }
        pause.set_barriers(Hot::FORWARDING | self.resting_barriers());
        pause.begin_root_visit();
        pause.visit_providers(
            &mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: a provider's slot, which may be written until the visit ends.
                unsafe { self.forward_slot(shared, slot) };
            }),
            &mut |_| {},
        );
        Step::Evacuate
    }

    /// Notes that the object at `address` must not move.
    pub(super) fn leave(&self, shared: &Shared, address: usize) {
        self.tables.set_membership(shared.space.free.table().index_of(address), Membership::Kept);
    }

    /// Makes the set final: regions to which objects came since, and those with pinned objects
    /// (which have [a mark](Self::leave)), stay. Returns whether anything moves. In a stop.
    pub(super) fn fix_set(&self, cycle: &mut Cycle, shared: &Shared) -> bool {
        let (free, table, tables) = (&shared.space.free, shared.space.free.table(), &self.tables);
        #[cfg(test)]
        if let Some(old) = self.old_tables(shared).filter(|_| !cycle.ends_old) {
            for index in free.in_use() {
                if table.get(index).is_tenured() && table.get(index).state().begins_objects() {
                    // SAFETY: nothing has moved yet, and old regions are in order.
                    unsafe { check_remembered(&shared.space, tables, &old, index) };
                }
            }
        }
        let stays = |index: usize| tables.membership(index) == Membership::Kept;
        let grew = |index: usize| table.get(index).top() > table.mark_start(index);
        let is_run = |index: usize| table.get(index).state() == State::HumongousStart;
        let is_old = |index: usize| table.get(index).is_tenured();
        let stayed: Vec<usize> =
            cycle.set.iter().copied().filter(|&index| is_old(index) && stays(index)).collect();
        cycle.promoted.retain(|&index| is_run(index) || !grew(index));
        cycle.immediate.retain(|&index| is_run(index) || !grew(index) && !stays(index));
        cycle.set.retain(|&index| !grew(index) && !stays(index));
        for index in 0..table.len() {
            if stays(index) {
                tables.set_membership(index, Membership::None);
            }
        }
        let immediate = cycle.immediate.iter().copied().filter(|&index| !is_run(index));
        free.withdraw(immediate.chain(cycle.set.iter().copied()));
        cycle.record.set_regions = cycle.set.len();
        cycle.old_set_regions = cycle.set.iter().filter(|&&index| is_old(index)).count();
        for &index in &cycle.set {
            tables.set_membership(index, Membership::InSet);
        }
        if let Some(old) = &self.old {
            let moves = |index| tables.is_in_set(index);
            old.plan.lock().expect(POISONED).set_is_final(cycle, &stayed, moves);
        }
        self.fix_generations(cycle, shared);
        if cycle.set.is_empty() {
            return false;
        }
        cycle.to_update.clear();
        let is_immediate = |index: usize| cycle.immediate.binary_search(&index).is_ok();
        let is_promoted = |index: usize| cycle.promoted.binary_search(&index).is_ok();
        for index in free.in_use() {
            table.set_watermark(index);
            if table.get(index).state().begins_objects() && !is_immediate(index) {
                // Old slots in clean cards refer to old objects, which may move in other cycles.
                let old_stay = !cycle.ends_old && cycle.old_set_regions == 0;
                let by_cards = old_stay && table.get(index).is_tenured() && !is_promoted(index);
                cycle.to_update.push((index, by_cards));
            }
        }
        self.to_evacuate.fill(cycle.set.iter().map(|&index| (index, 0)).collect());
        true
    }

    /// Gives a root slot the place of its referent.
    ///
    /// # Safety
    /// - The slot may be read and written, and holds a word as a slot does.
    pub(super) unsafe fn forward_slot(&self, shared: &Shared, slot: *mut u64) {
        // SAFETY: the caller's predicate.
        let bits = unsafe { slot.read() };
        if let Some(address) = reference(bits) {
            let place = self.evacuator(shared).forward(address, shared.space.home());
            if place != address {
                // SAFETY: the caller's predicate.
                unsafe { slot.write(with_reference(bits, place)) };
            }
        }
    }

    /// Ends the move: regions of the set are free, except those with kept objects. In a stop, with
    /// no barrier in force.
    pub(super) fn end_move(&self, cycle: &mut Cycle, shared: &Shared) -> Step {
        let (free, table) = (&shared.space.free, shared.space.free.table());
        cycle.to_free.clear();
        for index in std::mem::take(&mut cycle.set) {
            let kept = self.tables.membership(index) == Membership::Kept;
            self.tables.set_membership(index, Membership::None);
            // SAFETY: every reference leads to the copies.
            let end = if kept { unsafe { self.evacuator(shared).settle_kept(index) } } else { 0 };
            let region = table.get(index);
            if end > table.bottom(index) {
                cycle.record.kept_regions += 1;
                if region.is_tenured() {
                    // Old objects stay old: nobody knows which objects refer to them.
                    free.lower_top(index, end);
                    region.set_state(State::Old);
                    // The marks are also those of objects that have moved.
                    table.set_all_live(index);
                } else {
                    free.offer_region(index, end);
                }
            } else {
                cycle.to_free.push(index);
            }
        }
        Step::Free
    }
}
