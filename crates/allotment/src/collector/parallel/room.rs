//! Ways to find room: before a collection, after a collection, and as the very last resort.

use super::{Inner, Parallel, ZEAL_FULL};
use crate::collector::evacuate::end_of_last;
use crate::collector::kernel::OldTables;
use crate::collector::record::CollectionRecord;
use crate::collector::settings::raise_capacity;
use crate::collector::sizing::Change;
use crate::mutator::{Cause, Mutator, World};
use crate::object::MIN_OBJECT_BYTES;
use crate::region::{FreeSet, State};
use std::sync::Arc;

impl Parallel {
    /// Looks for room that needs no stop. Returns whether there was enough.
    pub(super) fn find_room(
        self: &Arc<Self>,
        mutator: &Mutator<'_>,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> bool {
        let shared = mutator.shared();
        let threads = shared.threads.registry.count();
        let (free, budget) = (&shared.space.free, &shared.policy.budget);
        let enlarged = self.growth.enlarge(free, budget, threads, |in_use, eden_regions| {
            // Eden is not nearly full any more. First: a mutator that finds the larger eden nearly
            // full may ask again at once.
            self.control.rest();
            self.reserve.keep(in_use, eden_regions)
        });
        // Another thread may have been quicker.
        let room = free.may_take(1) && satisfied(mutator)
            || (self.open_reserve(mutator) || free.may_take(1)) && satisfied(mutator);
        if let Some(eden_regions) = enlarged {
            self.prepare(eden_regions, threads);
        }
        room
    }
}

impl Inner {
    /// Whether a collection for this cause begins as a full one.
    pub(super) fn wants_full(&self, cause: Cause) -> bool {
        match cause {
            Cause::Requested | Cause::Interval => true,
            Cause::Zeal => self.collections % ZEAL_FULL == ZEAL_FULL - 1,
            Cause::AllocationFailure => self.decision.full,
            Cause::Idle | Cause::Trigger => false,
        }
    }

    /// Raises the capacity until there is enough room, as far as the decision allows. Returns
    /// whether there is enough. The last record notes the growth.
    pub(super) fn grow(
        &self,
        world: &World<'_>,
        records: &mut [CollectionRecord],
        satisfied: &mut dyn FnMut() -> bool,
    ) -> bool {
        let free = &world.shared().space.free;
        let (before, most) = (free.capacity(), self.decision.capacity_regions);
        let mut step = 1;
        let next = |capacity| {
            step *= 2;
            capacity + step / 2
        };
        let enough = raise_capacity(free, most, next, satisfied);
        tell_raised(records, before, free.capacity());
        enough
    }

    /// Lets mutators use the rests of old regions, as the very last resort. These regions are young
    /// again, with all their objects.
    pub(super) fn open_old_regions(&self, world: &World<'_>) {
        let shared = world.shared();
        let table = shared.space.free.table();
        self.old.forget();
        let space = &shared.space;
        let tables = OldTables { cards: &shared.space.cards, starts: &self.starts };
        for index in (0..table.len()).filter(|&index| table.get(index).state() == State::Old) {
            // SAFETY: a `World` is the proof that no mutator runs and every region is parsable.
            let top = unsafe { end_of_last(space, &tables, index) };
            if table.end(index) - top >= MIN_OBJECT_BYTES {
                shared.space.free.offer_region(index, top);
            }
        }
        shared.threads.roots.all_may_be_young();
        // No table has the old objects that refer into these regions: each of them may.
        for index in 0..table.len() {
            if table.is_old(index) && table.get(index).state().begins_objects() {
                shared.space.cards.dirty_range(table.bottom(index), shared.space.free.object_end(index));
            }
        }
    }
}

/// Lets all of the heap be in use. The last record notes the growth.
pub(super) fn open_all(free: &FreeSet, records: &mut [CollectionRecord]) {
    let before = free.capacity();
    free.set_capacity(free.table().len());
    tell_raised(records, before, free.capacity());
}

/// Notes in the last record that `now` regions may be in use, if these are more than `before`.
fn tell_raised(records: &mut [CollectionRecord], before: usize, now: usize) {
    if before < now
        && let Some(sizing) = records.last_mut().and_then(|record| record.sizing.as_mut())
    {
        let from = sizing.raised.map_or(before, |raised| raised.from);
        sizing.raised = Some(Change { from, to: now });
    }
}
