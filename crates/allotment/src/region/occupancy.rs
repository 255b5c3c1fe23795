//! The use of regions, in numbers of regions and bytes.
//!
//! A reader reads one region after the other while threads run, and takes no lock. Each region
//! counts as of the moment when it is read.

use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::State;

/// The contents of a heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Occupancy {
    /// Bytes handed out as buffers and objects.
    pub(crate) used_bytes: usize,
    /// Those of these bytes that are in old regions, runs not included.
    pub(crate) old_bytes: usize,
    /// Those of the used bytes that belong to old objects, runs included.
    pub(crate) tenured_bytes: usize,
    pub(crate) regions: RegionUse,
}

/// Number of regions by use. Together they are all regions of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegionUse {
    /// Without memory.
    pub uncommitted: usize,
    /// With memory, and empty.
    pub free: usize,
    /// Any thread may take a buffer or an object from them. They hold the objects that threads
    /// allocated.
    pub shared: usize,
    /// Filled by one thread alone, which took a [`Mark`](crate::raw::Mark), or held by a collector
    /// for future copies.
    pub exclusive: usize,
    /// Young objects that survived a collection.
    pub survivor: usize,
    /// Old objects.
    pub old: usize,
    /// Objects that are larger than a region.
    pub humongous: usize,
    /// Objects that a concurrent collector is moving out.
    pub collection_set: usize,
    /// Empty, and not available yet (`ZealQuarantine`).
    pub quarantined: usize,
}

impl RegionUse {
    /// The names of uses, each with its number of regions.
    pub(crate) fn by_name(&self) -> [(&'static str, usize); 9] {
        [
            ("uncommitted", self.uncommitted),
            ("free", self.free),
            ("shared", self.shared),
            ("exclusive", self.exclusive),
            ("survivor", self.survivor),
            ("old", self.old),
            ("humongous", self.humongous),
            ("collection_set", self.collection_set),
            ("quarantined", self.quarantined),
        ]
    }

    /// Counts a region that is neither free nor without memory, or was not when its neighbours were
    /// read.
    fn count(&mut self, state: State) {
        let count = match state {
            State::Uncommitted => &mut self.uncommitted,
            State::Free => &mut self.free,
            State::Shared => &mut self.shared,
            State::Exclusive => &mut self.exclusive,
            State::HumongousStart | State::HumongousContinuation => &mut self.humongous,
            State::Quarantined => &mut self.quarantined,
            State::Survivor => &mut self.survivor,
            State::Old => &mut self.old,
            State::CollectionSet => &mut self.collection_set,
        };
        *count += 1;
    }
}

impl<B: Backing> FreeSet<B> {
    /// The contents of the regions in use, at about this moment.
    pub(crate) fn occupancy(&self) -> Occupancy {
        let (mut sum, mut in_use) = (Occupancy::default(), 0);
        for index in self.in_use() {
            let region = self.table.get(index);
            let (state, bytes) = (region.state(), region.top() - self.table.bottom(index));
            in_use += 1;
            sum.regions.count(state);
            sum.used_bytes += bytes;
            sum.old_bytes += if state == State::Old { bytes } else { 0 };
            sum.tenured_bytes += if self.table.is_old(index) { bytes } else { 0 };
        }
        let others = self.table.len() - in_use;
        let untouched = self.untouched.count().min(others);
        sum.regions.uncommitted += untouched;
        sum.regions.free += others - untouched;
        sum
    }
}
