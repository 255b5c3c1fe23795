//! The part of a record that only a concurrent cycle has.

use super::Phase;
use std::time::Duration;

/// The counts of a concurrent cycle, or of one that was finished in a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleRecord {
    /// The stops of the cycle, in order: how long all threads stood still, the time to the
    /// safepoint included.
    pub pauses: Vec<Phase>,
    /// What triggered the cycle, with its numbers; empty if it was asked for.
    pub trigger: String,
    /// The step in which threads had to be stopped until the end of the cycle; `None`: they were
    /// not.
    pub degenerated: Option<&'static str>,
    /// Regions whose live objects were moved.
    pub set_regions: usize,
    /// Regions of the set in which objects had to stay, for want of memory for copies.
    pub kept_regions: usize,
    /// Regions that became free because nothing in them was live, those of humongous objects
    /// included.
    pub immediate_regions: usize,
    /// Humongous objects that died.
    pub humongous_freed: usize,
    /// Bytes that workers copied.
    pub moved_by_workers: usize,
    /// Bytes that mutators copied.
    pub moved_by_mutators: usize,
    /// Slices of the cycle's work that mutators did, because it would have come too late.
    pub assists: u64,
    /// The time of these slices, of all mutators together.
    pub assist_time: Duration,
    /// Words that mutators overwrote while the collector marked, and handed over.
    pub recorded_words: u64,
    /// Slots that got the new place of their referent from a worker.
    pub updated_slots: u64,
}

impl CycleRecord {
    /// The time for which all threads stood still.
    pub(in crate::collector) fn paused(&self) -> Duration {
        self.pauses.iter().map(|pause| pause.time).sum()
    }
}
