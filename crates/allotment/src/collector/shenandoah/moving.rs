//! The steps of a cycle that run beside mutators once the set is final: evacuation, update, and the
//! end.
//!
//! Workers and mutators that help take regions from the same lists (`assist.rs`). The rest of an
//! interrupted worker's region goes back to the list.

use super::assist::Todo;
use super::cycle::Cycle;
use super::engine::Engine;
use crate::collector::concurrent::{BY_CARDS, Buffers, Evacuator, Updater};
use crate::collector::work::Team;
use crate::mutator::Shared;
use crate::region::State;
use crate::sync::{AtomicU64, Ordering, Waiting};

impl Engine {
    /// Frees regions without live objects, in which no thread allocates.
    pub(super) fn free_immediate(&self, cycle: &mut Cycle, shared: &Shared) {
        let (free, table) = (&shared.space.free, shared.space.free.table());
        for index in cycle.immediate.drain(..) {
            if table.get(index).state() == State::HumongousStart {
                cycle.record.immediate_regions += table.get(index).run();
                cycle.record.humongous_freed += 1;
                free.give_humongous(index);
            } else {
                cycle.record.immediate_regions += 1;
                free.retire_region(index, table.get(index).home());
            }
        }
    }

    pub(super) fn evacuate(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        self.free_immediate(cycle, shared);
        if !self.await_duties(shared) {
            return false;
        }
        self.heal_handles(shared);
        let done = self.copy(cycle, shared, team);
        if done && shared.space.free.disposal().poison {
            let evacuator = self.evacuator(shared);
            // SAFETY: all live objects of the set have copies, or stay.
            cycle.set.iter().for_each(|&index| unsafe { evacuator.poison_moved(index) });
        }
        done
    }

    /// Gives handles the new places of their referents.
    fn heal_handles(&self, shared: &Shared) {
        let mut never = || false;
        let mut updater = Updater::new(self.evacuator(shared), &mut never, shared.space.home());
        for weak in [false, true] {
            shared.threads.roots.visit_handles(weak, |slot| updater.slot(slot));
        }
    }

    /// Copies the set, until all is copied or workers are interrupted.
    pub(super) fn copy(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        let copied = AtomicU64::new(0);
        team.run(&|_| {
            let (home, mut buffers, mut bytes) = (shared.space.home(), Buffers::default(), 0);
            let (evacuator, mut halted) = (self.evacuator(shared), || self.interrupt.is_set());
            while !halted() && self.copy_next(&evacuator, home, &mut buffers, &mut halted, &mut bytes) {}
            evacuator.end_buffers(&mut buffers);
            copied.fetch_add(bytes, Ordering::Relaxed);
        });
        cycle.record.moved_by_workers += copied.into_inner() as usize;
        self.await_end(&self.to_evacuate)
    }

    /// Updates the slots that refer to the set, until all are or workers are interrupted.
    pub(super) fn update(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        if !cycle.to_update.is_empty() {
            // Here and not before: mutators help as soon as there is something.
            self.to_update.fill(self.update_list(std::mem::take(&mut cycle.to_update), shared));
        }
        let updated = AtomicU64::new(0);
        team.run(&|_| {
            let (mut halted, home) = (|| self.interrupt.is_set(), shared.space.home());
            let mut updater = Updater::new(self.evacuator(shared), &mut halted, home);
            while !self.interrupt.is_set() && self.update_next(&mut updater) {}
            updated.fetch_add(updater.updated, Ordering::Relaxed);
        });
        cycle.record.updated_slots += updated.into_inner();
        self.await_end(&self.to_update)
    }

    /// Copies the next region of the set, or a part of it, as [`Evacuator::region`]. Returns
    /// whether there was one.
    pub(super) fn copy_next(
        &self,
        evacuator: &Evacuator<'_>,
        home: usize,
        buffers: &mut Buffers,
        halted: &mut dyn FnMut() -> bool,
        copied: &mut u64,
    ) -> bool {
        let Some(next) = self.to_evacuate.take() else { return false };
        let rest = evacuator.region(next, home, buffers, halted, copied);
        self.to_evacuate.end(rest.map(|from| (next.0, from)));
        true
    }

    /// Updates the next piece, or a part of it. Returns whether there was one.
    pub(super) fn update_next(&self, updater: &mut Updater<'_>) -> bool {
        let Some(next) = self.to_update.take() else { return false };
        // SAFETY: the list is filled when evacuation has ended and all duties are done.
        let done = unsafe { updater.piece(next) };
        self.to_update.end((!done).then_some(next));
        true
    }

    /// The pieces of an update: regions, pieces of regions with dirty cards, and chunks of large
    /// arrays, which count from 1.
    fn update_list(&self, regions: Vec<(usize, bool)>, shared: &Shared) -> Vec<(usize, usize)> {
        let mut never = || false;
        let mut updater = Updater::new(self.evacuator(shared), &mut never, shared.space.home());
        let mut list = Vec::new();
        for (index, by_cards) in regions {
            if by_cards {
                list.extend(updater.dirty_pieces(index).map(|piece| (index, BY_CARDS + piece)));
            } else {
                // SAFETY: evacuation has ended, all duties are done.
                list.extend((0..=unsafe { updater.chunks(index) }).map(|chunk| (index, chunk)));
            }
        }
        list
    }

    /// Waits for mutators that are at work on the last regions. Returns whether nothing is left.
    fn await_end(&self, todo: &Todo) -> bool {
        let mut waiting = Waiting::new();
        loop {
            match todo.is_done() {
                Some(done) => return done,
                None if self.interrupt.is_set() => return false,
                None => waiting.longer(),
            }
        }
    }

    /// Gives back the memory of the set and of the space. Puts regions in order whose objects are
    /// old.
    pub(super) fn free(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        self.free_immediate(cycle, shared);
        cycle.record.moved_by_mutators += self.copies.take_count() as usize;
        for index in cycle.to_free.drain(..) {
            shared.space.free.retire_region(index, shared.space.free.table().get(index).home());
        }
        cycle.old_copied_bytes += self.copies.close(shared);
        self.settle(cycle, shared, team)
    }
}
