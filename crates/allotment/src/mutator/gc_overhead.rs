//! The share of time that collections take, and how little they leave free.
//!
//! The type has plain numbers only. A collector measures them, a record of a collection shows them,
//! and an [`OutOfMemory`](super::OutOfMemory) carries them if they are its reason. They are whole
//! numbers, so they can be compared; percentages are computed on reading.

use std::fmt;
use std::time::Duration;

/// The cost of collections and the memory that they freed, between two full collections that
/// allocations needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcOverhead {
    /// Time in collections that an allocation needed, and of help for cycles.
    pub collecting: Duration,
    /// Time in which threads ran.
    pub running: Duration,
    /// Bytes of free regions, plus the rest of the one region in use that has the largest rest.
    pub free_bytes: usize,
    /// Bytes of the heap: MaxHeapSize, or the committed bytes if the system refuses to commit more.
    pub heap_bytes: usize,
    /// Full collections in a row that left less than `GCHeapFreeLimit` free, counted up to
    /// [`GcOverhead::FULL_COLLECTIONS`].
    pub full_collections: u32,
    /// `GCTimeLimit`.
    pub time_limit_percent: u32,
    /// `GCHeapFreeLimit`.
    pub free_limit_percent: u32,
    /// Whether this exceeds the limits, so that the allocation that needed the collection fails.
    pub exceeded: bool,
}

impl GcOverhead {
    /// Number of full collections in a row that must leave too little before an allocation fails
    /// for it. HotSpot's GCOverheadLimitThreshold.
    pub const FULL_COLLECTIONS: u32 = 5;

    /// The share of the time that collections took, in percent; 0 if no time passed.
    pub fn time_percent(&self) -> f64 {
        percent(self.collecting.as_nanos(), (self.collecting + self.running).as_nanos())
    }

    /// The share of the heap that is free, in percent.
    pub fn free_percent(&self) -> f64 {
        percent(self.free_bytes as u128, self.heap_bytes as u128)
    }

    /// Whether both limits are exceeded now, however many full collections were counted.
    pub(crate) fn is_beyond_limits(&self) -> bool {
        self.time_percent() > f64::from(self.time_limit_percent)
            && self.free_percent() < f64::from(self.free_limit_percent)
    }

    /// Writes why an allocation failed, as the end of a sentence.
    pub(super) fn write_reason(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded down: with 100 % a reader would suspect a heap that never runs.
        let share = (self.time_percent() * 10.0).floor() / 10.0;
        write!(
            out,
            ": the collector takes {share:.1} % of the time and leaves {:.2} % of the heap free: GC overhead limit \
             (UseGCOverheadLimit, GCTimeLimit={}, GCHeapFreeLimit={})",
            self.free_percent(),
            self.time_limit_percent,
            self.free_limit_percent
        )
    }
}

fn percent(part: u128, whole: u128) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// A line of the log: `99.12% of the time in collections, 0.02% of the heap free, 3 of 5 in a row`.
impl fmt::Display for GcOverhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.2}% of the time in collections, {:.2}% of the heap free, {} of {} in a row",
            self.time_percent(),
            self.free_percent(),
            self.full_collections,
            GcOverhead::FULL_COLLECTIONS
        )
    }
}
