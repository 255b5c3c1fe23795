//! Memory of many regions at once: committed ahead, and given back to the system.
//!
//! Memory is given back region by region: each region is taken as a mutator takes it. Refused: a
//! lock against mutators, because the kernel may take long.

use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;
use crate::sync::Ordering;

impl<B: Backing> FreeSet<B> {
    /// Gives the memory of free regions back to the system. Returns the number of bytes.
    pub(crate) fn uncommit_free(&self) -> usize {
        self.uncommit_if(|_| true)
    }

    /// As `uncommit_free`, for the free regions for which `wanted` returns true.
    pub(super) fn uncommit_if(&self, mut wanted: impl FnMut(usize) -> bool) -> usize {
        let mut regions = 0;
        for bitmap in &self.free {
            for index in bitmap.iter().filter(|&index| wanted(index)) {
                let moving = self.transit.begin();
                if !bitmap.take(index) {
                    continue;
                }
                if self.backing.uncommit(index) {
                    self.table.get(index).forget_dirt(self.table.bottom(index));
                    self.table.get(index).set_state(State::Uncommitted);
                    self.untouched.put(index);
                    regions += 1;
                } else {
                    bitmap.put(index);
                }
                moving.finish();
            }
        }
        self.given_back.fetch_add(regions, Ordering::Relaxed);
        regions << self.table.geometry().region_shift
    }

    /// Regions whose memory went back to the system since the heap began.
    #[cfg(test)]
    pub(crate) fn given_back_regions(&self) -> usize {
        self.given_back.load(Ordering::Relaxed)
    }

    /// Commits the lowest untouched regions until `bytes` of the heap are committed. Returns
    /// whether the system had the memory.
    pub(crate) fn commit_ahead(&self, bytes: usize) -> bool {
        let wanted = bytes.div_ceil(self.table.geometry().region_bytes()).min(self.table.len());
        let committed = self.table.len() - self.untouched.count();
        (committed..wanted).enumerate().all(|(turn, _)| {
            let Some(index) = self.untouched.take_lowest().filter(|&index| self.commit_taken(index)) else {
                return false;
            };
            // Each core gets a run of neighbouring regions, because neighbours on one core share
            // its prefetcher's pages.
            self.give_region(index, turn * self.free.len() / (wanted - committed));
            true
        })
    }

    /// Number of committed regions.
    pub(crate) fn committed_regions(&self) -> usize {
        self.table.len() - self.untouched.count()
    }

    /// Bytes of committed regions.
    pub(crate) fn committed_bytes(&self) -> usize {
        self.committed_regions() << self.table.geometry().region_shift
    }

    /// Regions that the system refused to commit since the heap began.
    pub(crate) fn commit_failures(&self) -> usize {
        self.commit_failures.load(Ordering::Relaxed)
    }
}
