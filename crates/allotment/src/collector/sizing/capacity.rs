//! The size of a heap for its live bytes.
//!
//! A full collection costs time for live bytes and yields free ones. So the work for each byte
//! allocated is live / free: with half of the heap free, that is one visit of a live byte for each
//! byte allocated. HotSpot bounds the same ratio (`MinHeapFreeRatio`), as Go does (`GOGC`, 100 =
//! half).

use crate::options::table::CAPACITY_FLOOR;

/// The rule by which a heap's capacity follows its live bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    floor_regions: usize,
    /// `MinHeapFreeRatio`: percentage, below 100.
    min_free_percent: usize,
}

impl Capacity {
    /// `initial_bytes` is InitialHeapSize, 0 if it was not given.
    pub(crate) fn new(initial_bytes: usize, region_bytes: usize, min_free_percent: usize) -> Capacity {
        let floor = if initial_bytes == 0 { CAPACITY_FLOOR } else { initial_bytes };
        Capacity { floor_regions: floor.div_ceil(region_bytes), min_free_percent }
    }

    /// Regions of a heap of which `in_use` are in use after a collection.
    pub(crate) fn after(&self, in_use: usize) -> usize {
        (in_use * 100).div_ceil(100 - self.min_free_percent).max(self.floor_regions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_is_free_as_the_ratio_says_and_never_less_than_the_floor() {
        const MIB: usize = 1 << 20;
        let half = Capacity::new(0, MIB, 50);
        assert_eq!([0, 10, 32, 33, 100].map(|in_use| half.after(in_use)), [64, 64, 64, 66, 200]);
        let hotspot = Capacity::new(8 * MIB, MIB, 40);
        assert_eq!([0, 6, 60, 61].map(|in_use| hotspot.after(in_use)), [8, 10, 100, 102]);
        assert_eq!(Capacity::new(MIB, MIB, 0).after(7), 7);
    }
}
