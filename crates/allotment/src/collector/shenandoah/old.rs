//! Old objects (`ShenandoahGCMode=generational`): which regions are old, and what a cycle does for
//! them beside its other work. `old_marking.rs` has which cycles mark them.
//!
//! ```text
//! begin_marking   a young cycle lists old regions; workers look at their dirty cards first
//! choose          the age from which objects are old; regions that become old as they are
//! begin_move      these are old, all others older; old regions to put in order are listed
//! free            dead objects of the listed regions are covered, starts recorded
//! full            nobody is old
//! ```

use super::POISONED;
use super::assist::Todo;
use super::cycle::Cycle;
use super::engine::Engine;
use super::old_marking::{OldWork, Plan};
use super::tenuring::Tenuring;
use crate::collector::concurrent::{Found, OldShared, settle_old};
use crate::collector::kernel::OldTables;
use crate::collector::record::{CycleScope, GenerationsDetails};
use crate::collector::work::Team;
use crate::mutator::Shared;
use crate::object::MAX_AGE;
use crate::platform::MemoryError;
use crate::region::{FreeSet, StartTable, State};
use crate::sync::{AtomicU8, Mutex, Ordering};

/// What a heap with generations has beside one without.
pub(super) struct Old {
    /// Starts of old objects.
    starts: StartTable,
    /// Old regions whose dirty cards a young cycle has yet to look at.
    pub(super) to_scan: Todo,
    /// Old regions to put in order.
    to_settle: Todo,
    tenuring: Mutex<Tenuring>,
    /// Cycles after which an object becomes old. Written between marking and evacuation. Relaxed: a
    /// copier has left the stop in between.
    tenuring_threshold: AtomicU8,
    /// What the marking of old objects has yet to look at.
    pub(super) left: OldWork,
    /// When old objects are marked, and which of them move then.
    pub(super) plan: Mutex<Plan>,
}

impl Old {
    /// Without old objects, for the heap that begins at `base`.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no memory for its tables.
    pub(super) fn new(base: usize, heap_bytes: usize, tenuring: Tenuring) -> Result<Old, MemoryError> {
        Ok(Old {
            starts: StartTable::new(base, heap_bytes)?,
            to_scan: Todo::default(),
            to_settle: Todo::default(),
            tenuring_threshold: AtomicU8::new(tenuring.threshold()),
            tenuring: Mutex::new(tenuring),
            left: OldWork::default(),
            plan: Mutex::new(Plan::new(heap_bytes)),
        })
    }

    /// In a child of `fork()`: whether no thread holds a lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.to_scan.is_at_rest()
            && self.to_settle.is_at_rest()
            && self.tenuring.try_lock().is_ok()
            && self.plan.try_lock().is_ok()
    }

    /// The tables of old regions.
    pub(super) fn tables<'h>(&'h self, shared: &'h Shared) -> OldTables<'h> {
        OldTables { cards: &shared.space.cards, starts: &self.starts }
    }

    /// Cycles after which an object becomes old.
    pub(super) fn tenuring_threshold(&self) -> u8 {
        self.tenuring_threshold.load(Ordering::Relaxed)
    }

    /// Decides from which age on objects become old, by what marking has counted.
    pub(super) fn decide_tenuring(&self, found: &Found) -> u8 {
        let threshold = self.tenuring.lock().expect(POISONED).observe(&found.ages);
        self.tenuring_threshold.store(threshold, Ordering::Relaxed);
        threshold
    }

    /// The counts of a cycle that ends.
    pub(super) fn record_of(&self, cycle: &Cycle, free: &FreeSet, is_marking: bool) -> GenerationsDetails {
        let mut plan = self.plan.lock().expect(POISONED);
        let (old_marking_time, old_marked_bytes) = plan.take_marked(cycle);
        GenerationsDetails {
            scope: if cycle.is_global() { CycleScope::Global } else { CycleScope::Young },
            old_marking: plan.marking_of(cycle, is_marking),
            old_marking_time,
            old_marked_bytes,
            old_set_regions: cycle.old_set_regions,
            old_candidates: plan.candidates.len(),
            old_copied_bytes: cycle.old_copied_bytes,
            promoted_regions: cycle.promoted_regions,
            tenuring_threshold: self.tenuring_threshold(),
            ages: cycle.found.ages,
            dirty_cards: cycle.found.cards,
            old_regions: free.old_regions(),
        }
    }
}

impl Engine {
    /// What markers share in a heap with generations.
    pub(super) fn old_shared<'h>(&'h self, shared: &'h Shared) -> Option<OldShared<'h>> {
        let old = self.old.as_ref()?;
        Some(OldShared { tables: old.tables(shared), found: &old.left.found })
    }

    /// The tables of old regions, in a heap with generations.
    #[cfg(test)]
    pub(super) fn old_tables<'h>(&'h self, shared: &'h Shared) -> Option<OldTables<'h>> {
        Some(self.old.as_ref()?.tables(shared))
    }

    /// Whether the objects of a young region without new objects become old where they are: they
    /// are old enough, and copies would gain little.
    pub(super) fn becomes_old(
        &self,
        shared: &Shared,
        index: usize,
        garbage_bytes: usize,
        threshold: u8,
    ) -> bool {
        let table = shared.space.free.table();
        let worth = table.geometry().region_bytes() * self.choice.garbage_percent / 100;
        let region = table.get(index);
        !region.is_tenured() && region.age() >= threshold && garbage_bytes <= worth
    }

    /// Makes regions old that are to be promoted as they are, and all others older. Lists the old
    /// regions that have to be put in order. In a stop, once the set is withdrawn.
    pub(super) fn fix_generations(&self, cycle: &Cycle, shared: &Shared) {
        let Some(old) = &self.old else { return };
        let (free, table) = (&shared.space.free, shared.space.free.table());
        // No copy comes to a region that is to be emptied, now or later.
        let mut leave = old.plan.lock().expect(POISONED).regions();
        leave.sort_unstable();
        self.copies.forget_rests(|index| {
            table.get(index).state() != State::Old || leave.binary_search(&index).is_ok()
        });
        free.withdraw(cycle.promoted.iter().copied().filter(|&index| table.get(index).run() == 0));
        for &index in &cycle.promoted {
            let region = table.get(index);
            if region.run() == 0 {
                region.set_state(State::Old);
            }
            (index..index + region.run().max(1)).for_each(|part| table.get(part).set_tenured(true));
        }
        let mut to_settle = Vec::new();
        for index in free.in_use() {
            let region = table.get(index);
            if !region.state().begins_objects() {
                continue;
            }
            let is_new = region.run() == 0
                && (region.top() > table.mark_start(index) || region.top() == table.bottom(index));
            region.set_age(if is_new { 0 } else { region.age().saturating_add(1).min(MAX_AGE) });
            let leaves =
                cycle.immediate.binary_search(&index).is_ok() || region.state() == State::CollectionSet;
            // Which old objects are dead is known where their marking ends.
            let is_known = cycle.ends_old || cycle.promoted.binary_search(&index).is_ok();
            let was_marked = table.mark_start(index) > table.bottom(index);
            if region.is_tenured() && is_known && !leaves && was_marked {
                to_settle.push((index, 0));
            }
        }
        old.to_settle.fill(to_settle);
    }

    /// Puts regions in order whose objects are old, before a young cycle looks at their cards.
    pub(super) fn settle(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        let Some(old) = &self.old else { return true };
        let (table, tables) = (shared.space.free.table(), old.tables(shared));
        for index in cycle.promoted.drain(..) {
            cycle.promoted_regions += table.get(index).run().max(1);
            // Which of its slots refer to young objects is not known.
            tables.cards.dirty_range(table.bottom(index), shared.space.free.object_end(index));
        }
        team.run(&|_| {
            while !self.interrupt.is_set()
                && let Some(region) = old.to_settle.take()
            {
                // SAFETY: no thread allocates in an old region, and the cycle has ended its moves.
                unsafe { settle_old(&shared.space, &self.tables, &tables, region.0) };
                old.to_settle.end(None);
            }
        });
        old.to_settle.is_done() == Some(true)
    }

    /// After a full collection no object is old: it has moved objects without regard to
    /// generations. The next cycle makes regions old as they are, if hardly anything has died in
    /// them by then.
    pub(super) fn make_all_young(&self, shared: &Shared) {
        if self.old.is_none() {
            return;
        }
        self.no_object_is_old(shared);
        let (free, table) = (&shared.space.free, shared.space.free.table());
        for index in free.in_use() {
            let region = table.get(index);
            if region.state() == State::Old {
                free.offer_region(index, region.top());
            }
            region.set_tenured(false);
            region.set_age(MAX_AGE);
        }
    }
}
