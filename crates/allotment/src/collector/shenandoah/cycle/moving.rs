//! Evacuate, Update and EndMove: the live objects of the set are copied, slots get the new places,
//! and nothing refers to the set any more.
//!
//! Workers and mutators that help take pieces from the same lists (`work_list.rs`). The rest of an
//! interrupted worker's piece goes back to the list.

use super::super::account::Account;
use super::super::engine::Engine;
use super::super::levy::PacedStep;
use super::super::place::{Stop, Work};
use super::super::work_list::WorkList;
use super::free::Freeing;
use crate::collector::concurrent::{Copier, Interrupt, Membership, Part, UpdatePiece, Updater};
use crate::mutator::{HandleExtent, Shared, World};
use crate::object::SlotVisitor;
use crate::region::State;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, Waiting};

/// A move under way.
pub(super) struct Moving {
    /// Regions that are being emptied.
    pub(super) set: Vec<usize>,
    /// Regions whose slots are to be updated, until the update begins.
    pub(super) to_update: Vec<ToUpdate>,
    /// The last step of the cycle, which adds the emptied regions.
    pub(super) freeing: Freeing,
    /// Whether threads pay for the copies.
    pub(super) is_paced: bool,
}

/// Which slots of a region, or of a run, may refer to the set.
#[derive(Clone, Copy)]
pub(super) enum ToUpdate {
    /// All slots of the region.
    All(usize),
    /// Those in dirty cards of the old region.
    DirtyCards(usize),
}

impl Moving {
    /// Copies the live objects of the set. Returns `false` if some are left.
    pub(super) fn evacuate(&mut self, engine: &Engine, account: &mut Account, work: Work<'_>) -> bool {
        let shared = work.shared;
        self.freeing.free_immediate(engine, account, shared);
        if !std::mem::replace(&mut self.is_paced, true) {
            let table = shared.space.free.table();
            let bytes = self.set.iter().map(|&region| Part { region, from: 0 }.bytes(table)).sum();
            engine.begin_paced(shared, PacedStep::Evacuate, bytes);
        }
        match work.world {
            Some(world) => forward_roots(engine, world),
            None if !work.await_duties() => return false,
            None => heal_handles(engine, account, shared),
        }
        let done = copy(engine, account, work);
        // The loads of a stopped world need no barrier, and the set is free when it ends.
        if done && work.world.is_none() && shared.space.free.disposal.poison {
            let evacuator = engine.evacuator(&shared.space);
            // SAFETY: all live objects of the set have copies, or stay.
            self.set.iter().for_each(|&index| unsafe { evacuator.poison_moved(index) });
        }
        done
    }

    /// Updates the slots that refer to the set. Returns `false` if some are left.
    pub(super) fn update(&mut self, engine: &Engine, account: &mut Account, work: Work<'_>) -> bool {
        let (shared, interrupt) = (work.shared, work.interrupt);
        if !self.to_update.is_empty() {
            let pieces = pieces(engine, std::mem::take(&mut self.to_update), shared);
            let table = shared.space.free.table();
            let bytes = pieces.iter().map(|piece| piece.bytes(table)).sum();
            engine.begin_paced(shared, PacedStep::Update, bytes);
            // Not before: mutators help as soon as the list has a piece.
            engine.to_update.fill(pieces);
        }
        let updated = AtomicU64::new(0);
        let done = until_done(&engine.to_update, interrupt, || {
            work.workers.run(&|_| {
                let mut updater = Updater::new(engine.evacuator(&shared.space), shared.space.home());
                while !interrupt.is_set()
                    && let Some(bytes) = engine.update_next(shared, &mut updater, &mut || interrupt.is_set())
                {
                    engine.worker_did(shared, bytes as u64);
                }
                updated.fetch_add(updater.updated, Ordering::Relaxed);
            });
        });
        account.record.updated_slots += updated.into_inner();
        done
    }

    /// Ends the move. Nothing refers to the regions of the set any more, except to kept objects.
    pub(super) fn end(mut self, engine: &Engine, account: &mut Account, stop: Stop<'_>) -> Freeing {
        stop.set_barriers(engine.resting_barriers());
        engine.pacer.end();
        let shared = stop.shared();
        let (free, table) = (&shared.space.free, shared.space.free.table());
        for index in self.set {
            let kept = engine.tables.membership(index) == Membership::Kept;
            engine.tables.set_membership(index, Membership::None);
            // SAFETY: every reference leads to the copies.
            let end = if kept { unsafe { engine.evacuator(&shared.space).settle_kept(index) } } else { 0 };
            let region = table.get(index);
            if end <= table.bottom(index) {
                self.freeing.emptied.push(index);
                continue;
            }
            account.record.kept_regions += 1;
            if region.is_tenured() {
                // Old objects stay old: the objects that refer to them are not known.
                free.lower_top(index, end);
                region.set_state(State::Old);
                // The marks are also those of objects that have moved.
                table.set_all_live(index);
            } else {
                free.offer_region(index, end);
            }
        }
        self.freeing
    }
}

/// Copies the set until workers are interrupted. Returns whether nothing is left to copy.
fn copy(engine: &Engine, account: &mut Account, work: Work<'_>) -> bool {
    let (shared, interrupt) = (work.shared, work.interrupt);
    let copied = AtomicUsize::new(0);
    let done = until_done(&engine.to_evacuate, interrupt, || {
        work.workers.run(&|_| {
            let mut copier = Copier::new(engine.evacuator(&shared.space), shared.space.home());
            while !interrupt.is_set()
                && let Some(bytes) = engine.copy_next(shared, &mut copier, &mut || interrupt.is_set())
            {
                engine.worker_did(shared, bytes as u64);
            }
            copied.fetch_add(copier.finish(), Ordering::Relaxed);
        });
    });
    account.record.moved_by_workers += copied.into_inner();
    done
}

/// Lets workers do all of a list: mutators that help leave the rests of their pieces. Returns
/// whether no piece is left. If some are, the workers were interrupted.
fn until_done<T>(list: &WorkList<T>, interrupt: &Interrupt, mut work: impl FnMut()) -> bool {
    loop {
        work();
        if await_end(list, interrupt) {
            return true;
        }
        if interrupt.is_set() {
            return false;
        }
    }
}

/// Waits for mutators that are at work on the last pieces. Returns whether no piece is left.
fn await_end<T>(list: &WorkList<T>, interrupt: &Interrupt) -> bool {
    let mut waiting = Waiting::new();
    loop {
        match list.is_done() {
            Some(done) => return done,
            None if interrupt.is_set() => return false,
            None => waiting.longer(),
        }
    }
}

/// Gives handles the new places of their referents.
fn heal_handles(engine: &Engine, account: &Account, shared: &Shared) {
    let old_stay = engine.old.is_some() && account.old.set_regions == 0;
    let extent = if old_stay { HandleExtent::Young } else { HandleExtent::All };
    let mut updater = Updater::new(engine.evacuator(&shared.space), shared.space.home());
    for weak in [false, true] {
        shared.threads.roots.visit_handles(weak, extent, |slot| updater.slot(slot));
    }
}

/// Gives all roots of a stopped world the places of their referents.
fn forward_roots(engine: &Engine, world: &World<'_>) {
    let shared = world.shared();
    world.visit_roots(&mut SlotVisitor::new(&mut |slot, _| {
        // SAFETY: a root slot of a stopped world.
        unsafe { engine.forward_slot(&shared.space, slot) };
    }));
}

/// The pieces of an update.
fn pieces(engine: &Engine, regions: Vec<ToUpdate>, shared: &Shared) -> Vec<UpdatePiece> {
    let mut updater = Updater::new(engine.evacuator(&shared.space), shared.space.home());
    let mut pieces = Vec::new();
    for region in regions {
        match region {
            // SAFETY: evacuation has ended, all duties are done.
            ToUpdate::All(index) => pieces.extend(unsafe { updater.pieces(index) }),
            ToUpdate::DirtyCards(index) => pieces.extend(updater.dirty_pieces(index)),
        }
    }
    pieces
}
