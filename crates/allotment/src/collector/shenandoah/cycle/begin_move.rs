//! BeginMove: the stop after which objects of the set move.
//!
//! All spans have ended, so no thread has a reference to an old place. Regions in which objects
//! were allocated since the choice stay, and so do those with pinned objects.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::place::Stop;
use super::Step;
use super::free::Freeing;
use super::generations::grow_older;
use super::moving::{Moving, ToUpdate};
use super::weak::Chosen;
#[cfg(test)]
use crate::collector::concurrent::check_remembered;
use crate::collector::concurrent::{Membership, Part};
use crate::mutator::{Hot, Pause, Shared};
use crate::object::SlotVisitor;
use crate::region::State;

impl Chosen {
    /// Does the step. Returns the next one, which is the last of the cycle if nothing is worth a
    /// move.
    pub(super) fn begin(mut self, engine: &Engine, account: &mut Account, stop: Stop<'_>) -> Step {
        let shared = stop.shared();
        #[cfg(test)]
        if let Some(old) = engine.old.as_ref().filter(|_| !account.scope.ends_old()) {
            // SAFETY: nothing has moved yet, and old regions are in order.
            unsafe { check_remembered(&shared.space, &engine.tables, &old.tables(&shared.space)) };
        }
        leave_pinned(engine, stop);
        self.make_final(engine, account, shared);
        grow_older(engine, account, &self, shared);
        let Chosen { immediate, set, promoted, .. } = self;
        let freeing = Freeing { immediate, emptied: Vec::new(), promoted };
        if set.is_empty() {
            stop.set_barriers(engine.resting_barriers());
            return Step::Free(freeing);
        }
        let to_update = set_watermarks(account, shared, &freeing);
        engine.to_evacuate.fill(set.iter().map(|&region| Part { region, from: 0 }).collect());
        // In the stopped world no thread loads a reference before all are updated.
        if let Stop::Pause(pause) = stop {
            pause.set_barriers(Hot::FORWARDING | engine.resting_barriers());
            pause.begin_root_visit();
            forward_roots_of_providers(engine, pause);
        }
        Step::Evacuate(Moving { set, to_update, freeing, is_paced: false })
    }

    /// Makes the choice final. Regions in which objects were allocated since marking began stay,
    /// and so do those with pinned objects.
    fn make_final(&mut self, engine: &Engine, account: &mut Account, shared: &Shared) {
        let (free, table, tables) = (&shared.space.free, shared.space.free.table(), &engine.tables);
        let stays = |index: usize| tables.membership(index) == Membership::Kept;
        let grew = |index: usize| table.get(index).top() > table.mark_start(index);
        let is_run = |index: usize| table.get(index).state() == State::HumongousStart;
        let is_old = |index: usize| table.get(index).is_tenured();
        let stayed: Vec<usize> =
            self.set.iter().copied().filter(|&index| is_old(index) && stays(index)).collect();
        self.promoted.retain(|&index| is_run(index) || !grew(index));
        self.immediate.retain(|&index| is_run(index) || !grew(index) && !stays(index));
        self.set.retain(|&index| !grew(index) && !stays(index));
        for index in 0..table.len() {
            if stays(index) {
                tables.set_membership(index, Membership::None);
            }
        }
        let immediate = self.immediate.iter().copied().filter(|&index| !is_run(index));
        free.withdraw(immediate.chain(self.set.iter().copied()));
        account.record.set_regions = self.set.len();
        account.old.set_regions = self.set.iter().filter(|&&index| is_old(index)).count();
        for &index in &self.set {
            tables.set_membership(index, Membership::InSet);
        }
        if let Some(old) = &engine.old {
            let mut plan = old.plan();
            if account.scope.ends_old() {
                plan.candidates = std::mem::take(&mut self.old_candidates);
            }
            plan.set_is_final(&stayed, |index| tables.is_in_set(index));
        }
    }
}

/// Marks the regions of objects that must not move as [kept](Membership::Kept).
fn leave_pinned(engine: &Engine, stop: Stop<'_>) {
    let table = stop.shared().space.free.table();
    let mut leave = |address: usize| engine.tables.set_membership(table.index_of(address), Membership::Kept);
    match stop {
        Stop::World(world) => world.visit_pinned(&mut leave),
        Stop::Pause(pause) => {
            pause.shared().threads.roots.pins.visit(&mut leave);
            pause.visit_providers(&mut SlotVisitor::new(&mut |_, _| {}), &mut leave);
        }
    }
}

/// Sets the borders below which objects may refer to the set. Returns the slots that have to be
/// updated.
fn set_watermarks(account: &Account, shared: &Shared, freeing: &Freeing) -> Vec<ToUpdate> {
    let (free, table) = (&shared.space.free, shared.space.free.table());
    // Old slots in clean cards refer to old objects, which may move in other cycles.
    let old_stay = !account.scope.ends_old() && account.old.set_regions == 0;
    let mut to_update = Vec::new();
    for index in free.in_use() {
        table.set_watermark(index);
        if table.get(index).state().begins_objects() && freeing.immediate.binary_search(&index).is_err() {
            let is_old = table.get(index).is_tenured() && freeing.promoted.binary_search(&index).is_err();
            to_update.push(match old_stay && is_old {
                true => ToUpdate::DirtyCards(index),
                false => ToUpdate::All(index),
            });
        }
    }
    to_update
}

/// Gives the roots of providers the new places of their referents.
fn forward_roots_of_providers(engine: &Engine, pause: &Pause<'_>) {
    pause.visit_providers(
        &mut SlotVisitor::new(&mut |slot, _| {
            // SAFETY: a provider's slot, which may be written until the visit ends.
            unsafe { engine.forward_slot(&pause.shared().space, slot) };
        }),
        &mut |_| {},
    );
}
