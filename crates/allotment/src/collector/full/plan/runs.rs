//! Runs of regions: their live objects, and the new place of each run that moves.
//!
//! A run takes part in the plan like the objects of a region: in order of address, downwards. So
//! nothing overtakes, the slide needs no free memory, and no second pass over the heap is made:
//! slots into a run get the new address with all others. The run keeps its form, though. It goes as
//! it is to whole regions that are empty by then: regions that were free, or that all objects have
//! left.
//!
//! **Invariant:** a run fits in its old place at the latest. No gap is opened in its regions before
//! its turn, and no other run goes there: everything planned before it lies below, and goes further
//! down.
//!
//! Without walls, all live objects are side by side at the bottom afterwards. Walls are regions
//! with a pin, runs with a pin, and regions without memory where the system has none. Refused: runs
//! towards the top and objects towards the bottom. They would have to change places, which takes
//! memory.

use super::places::{self, RegionUse};
use super::{Cursor, LargeArray, MovedRun, Planner, RegionRole};
use crate::collector::full::FullStatistics;
use crate::collector::kernel::{cover, walk_or_abort};
use crate::object::{WORD, tail_slots};
use crate::region::State;
use std::ops::Range;

impl Planner<'_, '_> {
    /// Leaves the live objects of a run of regions in place, and covers its dead ones. Returns
    /// whether any object is live. A run holds one object, unless it was reserved for several.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    pub(super) unsafe fn keep_run(&mut self, index: usize) -> bool {
        let free = &self.space.free;
        let region_bytes = free.table().geometry().region_bytes();
        let (bottom, end) = (free.table().bottom(index), free.object_end(index));
        let mut any = false;
        // SAFETY: the run is parsable. The walk has read the size of an object before it is
        // covered.
        unsafe {
            walk_or_abort(&self.space.shapes, bottom, end, |object| {
                let Some((_, shape)) = object.shape.filter(|_| self.map.is_live(object.address)) else {
                    return cover(free, object.address, object.address + object.bytes);
                };
                self.map.leave_in_place(object.address, object.address + WORD);
                any = true;
                let tail = tail_slots(object.address, shape).filter(|_| object.bytes > region_bytes);
                let arrays = &mut self.plan.arrays;
                // Room for all was reserved.
                arrays.extend(tail.map(|tail| LargeArray { address: object.address, slots: tail.length }));
            });
        }
        any
    }

    /// Whether the live run that begins at region `index` may move. No pin before `first_pin` is in
    /// it.
    pub(super) fn may_move(&self, index: usize, first_pin: usize) -> bool {
        let table = self.space.free.table();
        let end = table.bottom(index + table.get(index).run());
        let is_pinned = self.plan.pins.get(first_pin).is_some_and(|pin| pin.start < end);
        self.compaction.moves_runs() && !is_pinned
    }

    /// The regions between two walls that are to become as free as possible.
    pub(super) fn room_to_clear(&self) -> Range<usize> {
        places::room_to_clear(self.plan.regions.len(), |index| {
            let region = &self.plan.regions[index];
            match region.role {
                RegionRole::Slides if region.pins.is_empty() => RegionUse::Moves,
                RegionRole::Shifts => RegionUse::Moves,
                RegionRole::Untouched if self.is_unused(index) => RegionUse::Free,
                _ => RegionUse::Wall,
            }
        })
    }

    /// Plans the run that begins at region `index`. Does nothing if that is not a run's first
    /// region.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    pub(super) unsafe fn place_run(
        &mut self,
        index: usize,
        cursor: &Cursor,
        statistics: &mut FullStatistics,
    ) {
        let free = &self.space.free;
        let table = free.table();
        if table.get(index).state() != State::HumongousStart {
            return;
        }
        let run = free.run(index);
        let to = self.find_place(index, run.regions, cursor);
        if to == index {
            let stays = &mut self.plan.regions[index..index + run.regions];
            return stays.iter_mut().for_each(|region| region.role = RegionRole::Untouched);
        }
        self.plan.regions[to..to + run.regions].iter_mut().for_each(|region| region.gets_run = true);
        // Room for all was reserved.
        self.plan.runs.push(MovedRun { from: index, to, run });
        statistics.details.runs_moved += 1;
        statistics.details.run_regions_moved += run.regions;
        statistics.details.run_bytes_moved += run.bytes;
        let (bottom, map) = (table.bottom(index), self.map);
        // SAFETY: the run is parsable; its dead objects are covered.
        unsafe {
            walk_or_abort(&self.space.shapes, bottom, bottom + run.bytes, |object| {
                if object.shape.is_some() {
                    map.shift(object.address, bottom - table.bottom(to));
                }
            });
        }
    }

    /// Finds the new place of a run of `regions` regions that begins at region `run`. Takes the
    /// free regions among them.
    fn find_place(&mut self, run: usize, regions: usize, cursor: &Cursor) -> usize {
        let mut from = cursor.next;
        loop {
            let usable = |index| self.is_usable(index, cursor);
            let place = places::lowest_stretch(from, run, regions, usable);
            let below = place..run.min(place + regions);
            let refused = below.into_iter().find(|&index| {
                self.plan.regions[index].role == RegionRole::Untouched
                    && !self.plan.take(&self.space.free, index)
            });
            match refused {
                Some(refused) => from = refused + 1,
                None => return place,
            }
        }
    }

    /// Whether a run may go to the region. All objects of the region have been planned.
    fn is_usable(&self, index: usize, cursor: &Cursor) -> bool {
        let region = &self.plan.regions[index];
        !region.gets_run
            && !cursor.avoids(index)
            && match region.role {
                RegionRole::Slides => region.pins.is_empty(),
                RegionRole::Shifts | RegionRole::Taken => true,
                RegionRole::Untouched => self.is_unused(index),
                RegionRole::Stays => false,
            }
    }

    /// Whether the region is empty and can be had.
    fn is_unused(&self, index: usize) -> bool {
        match self.space.free.table().get(index).state() {
            State::Free => true,
            State::Uncommitted => self.plan.commits,
            _ => false,
        }
    }
}
