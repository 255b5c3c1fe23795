//! The disposal of a region whose objects are dead: it is used again at once, or, in tests of a
//! heap, later.
//!
//! A program may keep a stale reference to a dead object, or to the old place of a moved object.
//! Such a reference reads the memory's present contents, mostly a similar object, so the error
//! stays unnoticed. So freed memory can be filled with a pattern, and regions can be made
//! inaccessible. Regions can also be kept from use for some collections, so that the pattern or the
//! fault is still there when the stale reference is used.
//!
//! A heap's [`Disposal`](super::Disposal) selects among these. A reset disposes of all regions.

use super::committer::Backing;
use super::free_set::FreeSet;
use super::quarantine::Quarantined;
use super::table::State;
use crate::object::poison;

impl<B: Backing> FreeSet<B> {
    /// Gives up a region that the caller owns, as one that core `home` wrote last. All its objects
    /// are dead.
    pub(crate) fn retire_region(&self, index: usize, home: usize) {
        self.table.empty(index);
        let region = self.table.get(index);
        // Uncommitted before the decision about filling: the region is either readable and filled,
        // or neither.
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
        self.quarantine.put(Quarantined { index, left: self.disposal.quarantine, uncommitted });
    }

    /// Empties every committed region, and gives each to the core that wrote it last.
    ///
    /// The caller knows that no mutator is attached.
    pub(crate) fn reset(&self) {
        self.forget_room();
        for index in 0..self.table.len() {
            let region = self.table.get(index);
            if !region.state().is_empty() {
                self.retire_region(index, region.home());
            }
        }
    }

    /// Fills the written memory above the top of a region that the caller owns, if the heap fills
    /// freed memory. The region is readable.
    pub(crate) fn poison_room(&self, index: usize) {
        if self.disposal.poison {
            let region = self.table.get(index);
            let start = region.top();
            // SAFETY: a committed region's memory above its top, which is the caller's.
            unsafe { poison(start, region.dirty().max(start)) };
            region.set_poisoned(true);
        }
    }

    /// A collection has begun: regions that waited for enough collections are used again.
    pub(crate) fn age_quarantine(&self) {
        self.release_if(|region| {
            region.left -= 1;
            region.left == 0
        });
    }

    /// Ends the quarantine of all regions. Returns whether there was any.
    pub(crate) fn end_quarantine(&self) -> bool {
        self.release_if(|_| true)
    }

    fn release_if(&self, due: impl FnMut(&mut Quarantined) -> bool) -> bool {
        let moving = self.transit.begin();
        let released = self.quarantine.release_if(due, |region| {
            self.release(region.index, self.table.get(region.index).home(), region.uncommitted);
        });
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
            self.put_free(index, home);
        }
    }
}
