//! Humongous objects: runs of whole regions, for objects larger than one region.
//!
//! A run is claimed bit by bit from the bitmaps that single regions are taken from, so neither
//! waits for the other. A claim that loses one of its regions to a mutator gives back the regions
//! that it has, and searches again. If the system refuses memory, a run of committed regions may
//! still be found. Single regions come from the low end, runs from the high end.

use super::carve::Carve;
use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;
use crate::sync::{Ordering, POISONED};

impl<B: Backing> FreeSet<B> {
    /// Takes a run of regions for one object of `bytes`, which is more than a region. Returns
    /// `None` if there is no run.
    pub(crate) fn allocate_humongous(&self, home: usize, bytes: usize) -> Option<Carve> {
        let regions = bytes.div_ceil(self.table.geometry().region_bytes());
        self.want_run(regions);
        if !self.may_take(regions) {
            return None;
        }
        let _guard = self.humongous.lock().expect(POISONED);
        let mut may_commit = true;
        let attempt = || {
            let start = self.find_run(regions, may_commit)?;
            let claimed = self.claim_run(start, regions);
            may_commit &= !matches!(claimed, Err(Lost::Memory));
            claimed.is_ok().then(|| self.install(start, regions, bytes, home))
        };
        self.transit.until_settled(attempt, || false)
    }

    /// The highest run of free or, if they may be committed, untouched regions.
    fn find_run(&self, regions: usize, may_commit: bool) -> Option<usize> {
        let mut length = 0;
        for index in (0..self.table.len()).rev() {
            let unused = self.is_free(index) || may_commit && self.untouched.contains(index);
            length = if unused { length + 1 } else { 0 };
            if length == regions {
                return Some(index);
            }
        }
        None
    }

    fn is_free(&self, index: usize) -> bool {
        self.free[self.table.get(index).home()].contains(index)
    }

    fn claim_run(&self, start: usize, regions: usize) -> Result<(), Lost> {
        let moving = self.transit.begin();
        for index in start..start + regions {
            let claimed = if self.untouched.take(index) {
                if self.commit_taken(index) { Ok(()) } else { Err(Lost::Memory) }
            } else if self.free[self.table.get(index).home()].take(index) {
                Ok(())
            } else {
                Err(Lost::Region)
            };
            if let Err(lost) = claimed {
                (start..index).for_each(|claimed| self.give_region(claimed, self.table.get(claimed).home()));
                moving.finish();
                return Err(lost);
            }
        }
        Ok(())
    }

    fn install(&self, start: usize, regions: usize, bytes: usize, home: usize) -> Carve {
        self.taken.fetch_add(regions, Ordering::Relaxed);
        let (bottom, end) = (self.table.bottom(start), self.table.bottom(start) + bytes);
        let mut dirty = bottom;
        for index in start..start + regions {
            let region = self.table.get(index);
            if region.dirty() > self.table.bottom(index) {
                dirty = region.dirty();
            }
            self.continue_run(start, regions, index, end, home);
        }
        Carve { start: bottom, end, dirty: dirty.clamp(bottom, end) }
    }

    /// Makes `index` a region of the run that begins at `start` and whose object ends at `end`.
    fn continue_run(&self, start: usize, regions: usize, index: usize, end: usize, home: usize) {
        let region = self.table.get(index);
        region.set_home(home);
        region.set_top(end.clamp(self.table.bottom(index), self.table.end(index)));
        if index == start {
            region.set_run(regions);
            region.set_state(State::HumongousStart);
        } else {
            region.set_run(index - start);
            region.set_state(State::HumongousContinuation);
        }
    }

    /// The run whose first region is `start`.
    pub(crate) fn run(&self, start: usize) -> Run {
        let first = self.table.get(start);
        Run {
            regions: first.run(),
            bytes: self.object_end(start) - self.table.bottom(start),
            home: first.home(),
            tenured: first.is_tenured(),
        }
    }

    /// Records that a run now lies in the regions from `start` on. The caller owns these regions,
    /// and has moved the run's contents there.
    pub(crate) fn settle_run(&self, start: usize, run: &Run) {
        let end = self.table.bottom(start) + run.bytes;
        for index in start..start + run.regions {
            let region = self.table.get(index);
            // The earlier contents were written up to here.
            region.raise_dirty(region.top().min(self.table.end(index)));
            region.set_tenured(index == start && run.tenured);
            self.continue_run(start, run.regions, index, end, run.home);
            self.poison_room(index);
        }
    }

    /// Whether free regions, committed or not, form more than one stretch, at about this moment.
    pub(crate) fn is_scattered(&self) -> bool {
        let unused = |index: usize| self.is_free(index) || self.untouched.contains(index);
        let begins = |index: &usize| unused(*index) && (*index == 0 || !unused(*index - 1));
        (0..self.table.len()).filter(begins).nth(1).is_some()
    }

    /// Gives back the run whose first region is `start`. The caller owns the run.
    pub(crate) fn give_humongous(&self, start: usize) {
        let regions = self.table.get(start).run();
        (start..start + regions).for_each(|index| self.retire_region(index, self.table.get(index).home()));
    }
}

/// A run of regions, at any place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) regions: usize,
    /// Bytes of the run's contents, from its bottom on.
    pub(crate) bytes: usize,
    home: usize,
    tenured: bool,
}

/// The reason why a run was not claimed.
enum Lost {
    /// A mutator took one of its regions first.
    Region,
    /// The system has no memory.
    Memory,
}
