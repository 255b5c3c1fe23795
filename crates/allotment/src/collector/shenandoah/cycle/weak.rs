//! Weak: weak slots of dead objects become null, and the set is chosen.
//!
//! Threads may have seen null in slots that still refer to dead objects. So a stop that comes in
//! this step never gives the cycle up.

use super::super::account::Account;
use super::super::choose::Candidate;
use super::super::engine::Engine;
use super::super::old::Old;
use super::super::place::Work;
use super::super::select::{Effort, FreeRegions, select, sort};
use super::measure::measure;
use crate::collector::concurrent::{Clearing, passage};
use crate::collector::work::Claimer;
use crate::mutator::{Cause, HandleExtent, World};
use crate::object::{SlotKind, SlotVisitor, reference};
use crate::sync::{AtomicU64, Ordering};

/// The step.
#[derive(Default)]
pub(super) struct Weak {
    /// Cycles after which objects become old. `None` before that is decided, and in a heap without
    /// generations.
    tenuring_threshold: Option<u8>,
}

/// The choice of regions, some of which may have to stay.
pub(super) struct Chosen {
    /// Regions, and first regions of runs, without a live object.
    pub(super) immediate: Vec<usize>,
    /// Regions that are to be emptied.
    pub(super) set: Vec<usize>,
    /// Young regions that are to become old as they are.
    pub(super) promoted: Vec<usize>,
    /// Old regions that are worth a move, most garbage first, in a cycle that ends their marking.
    pub(super) old_candidates: Vec<Candidate>,
}

impl Weak {
    /// Clears weak slots, and chooses. Returns `None` if it was interrupted.
    pub(super) fn run(&mut self, engine: &Engine, account: &mut Account, work: Work<'_>) -> Option<Chosen> {
        clear(engine, account, work);
        if let Some(world) = work.world {
            clear_weak_roots(engine, world);
        }
        if work.interrupt.is_set() {
            return None;
        }
        let chosen = self.choose(engine, account, work);
        (!work.interrupt.is_set()).then_some(chosen)
    }

    /// Finds regions without live objects, and those that are worth a move.
    fn choose(&mut self, engine: &Engine, account: &mut Account, work: Work<'_>) -> Chosen {
        let free = &work.shared.space.free;
        let table = free.table();
        let region_bytes = table.geometry().region_bytes();
        // Once for each cycle: this step may be done again.
        if self.tenuring_threshold.is_none() {
            self.tenuring_threshold = engine.old.as_ref().map(|old| old.decide_tenuring(&account.found));
        }
        let measured = measure(engine, account, work);
        let promotion_bytes = region_bytes * engine.choice.garbage_percent / 100;
        let mut sorted = sort(&measured, self.tenuring_threshold, promotion_bytes);
        let effort = match account.cause {
            _ if engine.move_all => Effort::All,
            Cause::Requested | Cause::Interval => Effort::Thorough,
            _ => Effort::Usual,
        };
        let memory = FreeRegions {
            region_bytes,
            heap_bytes: table.geometry().heap_bytes(),
            free_regions: free.free_regions(),
            regions_left: free.regions_left(),
            reserve_regions: engine.reserve,
            regions_to_next: match work.world {
                Some(_) => 0,
                None => account.before.goal_regions.saturating_sub(free.regions_in_use()),
            },
            wanted_run: free.wanted_run(),
        };
        let plan = engine.old.as_ref().map(Old::plan);
        let waiting = match &plan {
            // A cycle that ends the marking finds such regions anew.
            Some(plan) if !account.scope.ends_old() => plan.candidates.as_slice(),
            _ => &[],
        };
        let is_old = |region: usize| table.get(region).is_tenured();
        let mut selection = select(&mut sorted, waiting, &engine.choice, effort, &memory, is_old);
        drop(plan);
        account.skips_set = selection.skips;
        let old_candidates = std::mem::take(&mut selection.old_candidates);
        passage();
        // Without memory for the list of regions for copies, nothing moves.
        let set = match engine.copies.provide(free, selection.copy_regions()) {
            Ok(regions) => selection.fitting(regions),
            Err(_) => Vec::new(),
        };
        Chosen { immediate: sorted.immediate, set, promoted: sorted.promoted, old_candidates }
    }
}

/// Clears weak slots of objects and handles.
fn clear(engine: &Engine, account: &mut Account, work: Work<'_>) {
    let (space, interrupt) = (&work.shared.space, work.interrupt);
    let cleared = AtomicU64::new(0);
    let regions =
        Claimer::new(if engine.left.weak_objects.has_lost() { space.free.table().len() } else { 0 });
    work.workers.run(&|_| {
        let mut clearing = Clearing::new(space, &engine.tables);
        while !interrupt.is_set()
            && let Some(objects) = engine.left.weak_objects.take()
        {
            // SAFETY: markers found these objects, and nothing has moved.
            objects.into_iter().for_each(|address| _ = unsafe { clearing.object(address) });
        }
        while let Some(index) = regions.claim() {
            // SAFETY: nothing has moved.
            unsafe { clearing.region(index) };
        }
        cleared.fetch_add(clearing.cleared, Ordering::Relaxed);
    });
    let mut clearing = Clearing::new(space, &engine.tables);
    let extent = if account.scope.ends_old() { HandleExtent::All } else { HandleExtent::Young };
    work.shared.threads.roots.visit_handles(true, extent, |slot| clearing.slot(slot));
    account.weak_cleared += cleared.into_inner() + clearing.cleared;
}

/// Clears weak root slots of dead objects: those of providers, and of handles that other threads
/// copied during the visit before.
fn clear_weak_roots(engine: &Engine, world: &World<'_>) {
    let free = &world.shared().space.free;
    world.visit_roots(&mut SlotVisitor::new(&mut |slot, kind| {
        // SAFETY: a root slot of a stopped world.
        let bits = unsafe { slot.read() };
        let dead = |address| !engine.tables.is_live(free, address);
        if kind == SlotKind::Weak && reference(bits).is_some_and(dead) {
            // SAFETY: a root slot of a stopped world.
            unsafe { slot.write(0) };
        }
    }));
}
