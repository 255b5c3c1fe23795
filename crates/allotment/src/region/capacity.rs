//! The capacity: how much of the heap may be in use before a thread should collect.
//!
//! A heap may be far larger than its live objects. To fill all of it before the first collection
//! would take memory from the rest of the machine, and none of that memory would be in a cache. So
//! a collector lowers the capacity, and a request for a region beyond it fails. The capacity is a
//! hint: two threads may exceed it at once.

use super::bitmap::regions_of;
use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;
use crate::sync::Ordering;

impl<B: Backing> FreeSet<B> {
    /// Regions that are neither free nor untouched, at about this moment.
    pub(crate) fn regions_in_use(&self) -> usize {
        let free: usize = self.free.iter().map(|bitmap| bitmap.count()).sum();
        self.table.len().saturating_sub(self.untouched.count() + free)
    }

    /// Regions that are free or untouched, at about this moment.
    pub(crate) fn free_regions(&self) -> usize {
        self.table.len() - self.regions_in_use()
    }

    /// The regions in use, lowest first, each as of the moment when it and its neighbours are read.
    /// In a heap that is mostly empty this reads far less than the table.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = usize> + '_ {
        let regions = self.table.len();
        (0..regions.div_ceil(64)).flat_map(move |number| {
            let empty =
                self.free.iter().fold(self.untouched.word(number), |sum, free| sum | free.word(number));
            let all = u64::MAX >> (64 - (regions - number * 64).min(64));
            regions_of(number, all & !empty)
        })
    }

    /// Regions of old objects, at about this moment.
    pub(crate) fn old_regions(&self) -> usize {
        self.in_use().filter(|&index| self.table.get(index).is_tenured()).count()
    }

    /// Bytes that are free outside the free regions: all bytes in quarantine, and the largest rest
    /// of a region in use. The rests of other regions were too small for objects, which went
    /// elsewhere.
    pub(crate) fn room_beside_free(&self) -> usize {
        let (mut quarantined, mut rest) = (0, 0);
        for index in self.in_use() {
            let region = self.table.get(index);
            match region.state() {
                State::Quarantined => quarantined += 1,
                State::HumongousStart | State::HumongousContinuation => {}
                _ => rest = rest.max(self.table.end(index) - region.top()),
            }
        }
        (quarantined << self.table.geometry().region_shift) + rest
    }

    /// Number of regions that may be in use. This is all of them, unless a collector set a limit.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.load(Ordering::Relaxed)
    }

    /// Sets the capacity, to at most the number of regions.
    pub(crate) fn set_capacity(&self, regions: usize) {
        self.capacity.store(regions.min(self.table.len()), Ordering::Relaxed);
    }

    /// Raises the capacity to at least `regions`, while other threads read it.
    pub(crate) fn raise_capacity(&self, regions: usize) {
        self.capacity.fetch_max(regions.min(self.table.len()), Ordering::Relaxed);
    }

    /// Regions that may yet come into use within the capacity, at about this moment.
    pub(crate) fn regions_left(&self) -> usize {
        self.capacity().saturating_sub(self.regions_in_use())
    }

    /// Whether that many more regions stay within the capacity.
    pub(crate) fn may_take(&self, regions: usize) -> bool {
        let capacity = self.capacity();
        // Without a limit there is no need to count.
        capacity == self.table.len() || self.regions_in_use() + regions <= capacity
    }
}
