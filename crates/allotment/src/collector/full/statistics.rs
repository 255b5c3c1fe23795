//! The statistics of a full collection, for the records.

use crate::collector::kernel::Phase;

/// Counts and times of one full collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FullStatistics {
    /// Number of threads that worked.
    pub(crate) workers: usize,
    /// The parts of the collection, in order.
    pub(crate) phases: Vec<Phase>,
    /// Bytes below the tops of regions before.
    pub(crate) used_before: usize,
    /// Bytes below the tops of regions after.
    pub(crate) used_after: usize,
    /// Live objects.
    pub(crate) live_objects: u64,
    /// Bytes of live objects.
    pub(crate) live_bytes: u64,
    /// Whether an object has a weak slot; roots are not counted.
    pub(crate) weak_slots: bool,
    /// Bytes of objects that changed their address.
    pub(crate) moved_bytes: u64,
    /// Weak slots and roots cleared.
    pub(crate) weak_cleared: u64,
    /// The part that is in the record as it is.
    pub(crate) details: FullDetails,
}

/// The details of a full collection:
/// [`CollectionRecord::full`](crate::stats::CollectionRecord::full).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FullDetails {
    /// Regions whose objects stayed in place because there was too little garbage among them.
    pub regions_left_alone: usize,
    /// Regions that became free, those of humongous objects included.
    pub regions_freed: usize,
    /// Humongous objects that died.
    pub humongous_freed: usize,
    /// Runs of regions that moved: humongous objects, in a collection of the last resort.
    pub runs_moved: usize,
    /// Regions of these runs.
    pub run_regions_moved: usize,
    /// Bytes of the contents of these runs.
    pub run_bytes_moved: usize,
    /// Times a worker's stack could not grow; the heap was then searched for the entries that did
    /// not fit.
    pub mark_overflows: u64,
    /// Pieces of work that one worker took from another during marking.
    pub steals: u64,
    /// Objects that each worker marked, in the order in which workers finished. An object marked by
    /// two workers at the same moment counts for both.
    pub worker_objects: Vec<u64>,
}
