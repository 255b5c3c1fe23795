//! How much of the heap may be in use before somebody should collect.
//!
//! A heap may be far larger than what lives in it; to fill all of it before the first collection would
//! take memory from the rest of the machine, and find none of it in a cache. So a collector lowers the capacity,
//! and who wants a region beyond it is told that there is none. It is a hint: two threads may pass it at once.

use super::backing::Backing;
use super::bitmap::regions_of;
use super::free_set::FreeSet;
use super::table::State;
use crate::sync::Ordering;

/// What is in a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// Bytes handed out as buffers and objects.
    pub(crate) used_bytes: usize,
    /// Those of them in old regions, runs not included.
    pub(crate) old_bytes: usize,
    /// Regions of humongous runs.
    pub(crate) humongous_regions: usize,
}

impl<B: Backing> FreeSet<B> {
    /// Regions that are neither free nor untouched, at about this moment.
    pub(crate) fn regions_in_use(&self) -> usize {
        let free: usize = self.free.iter().map(|bitmap| bitmap.count()).sum();
        self.table.len().saturating_sub(self.untouched.count() + free)
    }

    /// Those that are, committed or not, at about this moment.
    pub(crate) fn free_regions(&self) -> usize {
        self.table.len() - self.regions_in_use()
    }

    /// The regions in use, lowest first, each as of the moment when it and its neighbours are looked at. Of a heap that is mostly empty
    /// that is far less to look at than its table.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = usize> + '_ {
        let regions = self.table.len();
        (0..regions.div_ceil(64)).flat_map(move |number| {
            let empty =
                self.free.iter().fold(self.untouched.word(number), |sum, free| sum | free.word(number));
            let all = u64::MAX >> (64 - (regions - number * 64).min(64));
            regions_of(number, all & !empty)
        })
    }

    /// What is in them, at about this moment.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let mut sum = Occupancy::default();
        for index in self.in_use() {
            let region = self.table.get(index);
            let bytes = region.top() - self.table.bottom(index);
            sum.used_bytes += bytes;
            match region.state() {
                State::Old => sum.old_bytes += bytes,
                State::HumongousStart => sum.humongous_regions += region.run(),
                _ => {}
            }
        }
        sum
    }

    /// Bytes that are free beside the free regions: all that is in quarantine, and what is left of
    /// the one region in use that has most left. What the others have left was too little for what
    /// was put elsewhere.
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

    /// Regions that may be in use; all of them, unless a collector said otherwise.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity.load(Ordering::Relaxed)
    }

    /// Sets the capacity, to at most what there is.
    pub(crate) fn set_capacity(&self, regions: usize) {
        self.capacity.store(regions.min(self.table.len()), Ordering::Relaxed);
    }

    /// Makes the capacity at least so many regions, while others look at it.
    pub(crate) fn raise_capacity(&self, regions: usize) {
        self.capacity.fetch_max(regions.min(self.table.len()), Ordering::Relaxed);
    }

    /// Whether that many regions more stay within the capacity.
    pub(crate) fn may_take(&self, regions: usize) -> bool {
        let capacity = self.capacity();
        // Without a limit nobody counts.
        capacity == self.table.len() || self.regions_in_use() + regions <= capacity
    }
}
