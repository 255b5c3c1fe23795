//! The statistics of a full collection, for the records.

use crate::collector::kernel::Phase;

/// Counts and times of one full collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statistics {
    /// Number of threads that worked.
    pub(crate) workers: usize,
    /// Its parts, in order.
    pub(crate) phases: Vec<Phase>,
    /// Bytes below the tops of regions before.
    pub(crate) used_before: usize,
    /// The same after.
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
    /// Regions whose objects stayed, because there was too little garbage among them.
    pub(crate) regions_left_alone: usize,
    /// Regions that became free, those of humongous objects included.
    pub(crate) regions_freed: usize,
    /// Humongous objects that died.
    pub(crate) humongous_freed: usize,
    /// Runs of regions that moved.
    pub(crate) runs_moved: usize,
    /// Number of their regions.
    pub(crate) run_regions_moved: usize,
    /// Bytes of the contents of these runs.
    pub(crate) run_bytes_moved: usize,
    /// Times the mark stack could not grow; the heap was then searched for the entries that did not
    /// fit.
    pub(crate) mark_overflows: u64,
    /// Pieces of mark stacks that went from one worker to another.
    pub(crate) steals: u64,
    /// Objects that each worker marked, in the order in which workers finished.
    pub(crate) worker_objects: Vec<u64>,
}
