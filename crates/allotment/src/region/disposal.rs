//! What becomes of a region whose objects are dead: used again at once, or, when a heap is tested, not.
//!
//! Whoever kept a reference to a dead object, or to where an object was before it moved, reads what lies
//! there now: mostly a similar object, and nothing happens. So freed memory can be filled with a pattern, regions can
//! be made inaccessible, and they can be kept from use for some collections, so that the pattern or the
//! fault is still there when the stale reference is used.
//!
//! A region in quarantine belongs to a list, not to the sets of the free set: nobody looks there for memory but who
//! found none elsewhere, so a quarantine never turns into out of memory.

use super::free_set::{FreeSet, lock};
use super::supply::Backing;
use super::table::State;
use crate::object::poison;
use std::collections::BTreeSet;

/// What is done with freed memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disposal {
    /// Fill it with the pattern.
    pub(crate) poison: bool,
    /// Make whole regions inaccessible until they are used again.
    pub(crate) protect: bool,
    /// Collections that pass before a region is used again.
    pub(crate) quarantine: usize,
}

/// A region that is kept from use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quarantined {
    pub(super) index: usize,
    /// Collections that it will have to wait for.
    left: usize,
    /// It has no memory.
    uncommitted: bool,
}

impl<B: Backing> FreeSet<B> {
    /// The same free set, with freed memory disposed of in this way.
    pub(crate) fn with_disposal(mut self, disposal: Disposal) -> FreeSet<B> {
        self.disposal = disposal;
        self
    }

    /// What is done with freed memory.
    pub(crate) fn disposal(&self) -> Disposal {
        self.disposal
    }

    /// Gives up a region that the caller owns, as one that core `home` wrote last. All its objects are dead.
    pub(crate) fn retire_region(&self, index: usize, home: usize) {
        self.table.empty(index);
        let region = self.table.get(index);
        // Taken with the memory, not before: then a region is either readable and filled, or neither.
        let uncommitted = self.disposal.protect && self.backing.uncommit(index);
        if uncommitted {
            region.forget_dirt(self.table.bottom(index));
            region.set_poisoned(false);
        } else {
            self.poison_room(index);
        }
        if self.disposal.quarantine == 0 {
            return self.release(index, home, uncommitted);
        }
        region.set_home(home);
        region.set_state(State::Quarantined);
        lock(&self.quarantine).push(Quarantined { index, left: self.disposal.quarantine, uncommitted });
    }

    /// Fills what was written above the top of a region that the caller owns, if freed memory is to be filled. The
    /// region is readable.
    pub(crate) fn poison_room(&self, index: usize) {
        if self.disposal.poison {
            let region = self.table.get(index);
            let start = region.top();
            // SAFETY: a committed region's memory above its top, which is the caller's.
            unsafe { poison(start, region.dirty().max(start)) };
            region.set_poisoned(true);
        }
    }

    /// A collection has begun: regions that waited for enough of them are used again.
    pub(crate) fn age_quarantine(&self) {
        self.release_if(|region| {
            region.left -= 1;
            region.left == 0
        });
    }

    /// Ends the quarantine of all regions; whether there was any.
    pub(crate) fn end_quarantine(&self) -> bool {
        self.release_if(|_| true)
    }

    /// Regions in quarantine.
    pub(super) fn quarantined(&self) -> BTreeSet<usize> {
        lock(&self.quarantine).iter().map(|region| region.index).collect()
    }

    fn release_if(&self, mut due: impl FnMut(&mut Quarantined) -> bool) -> bool {
        let mut quarantine = lock(&self.quarantine);
        let before = quarantine.len();
        let moving = self.transit.begin();
        quarantine.retain_mut(|region| {
            let due = due(region);
            if due {
                self.release(region.index, self.table.get(region.index).home(), region.uncommitted);
            }
            !due
        });
        let released = quarantine.len() < before;
        if released {
            moving.finish();
        }
        released
    }

    fn release(&self, index: usize, home: usize, uncommitted: bool) {
        if uncommitted {
            self.table.get(index).set_home(home);
            self.table.get(index).set_state(State::Uncommitted);
            self.untouched.put(index);
        } else {
            self.give_region(index, home);
        }
    }
}
