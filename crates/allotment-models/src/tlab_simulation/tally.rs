//! The counts that a simulation takes while it runs.

use hdrhistogram::Histogram;

/// A longer time counts as this, in ns: a day.
const LONGEST: u64 = 86_400_000_000_000;

/// Counts of the collector, for one part of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Young collections, or cycles that ended beside threads.
    pub(super) collections: u64,
    /// Cycles that ended in a stop.
    pub(super) degenerated: u64,
    pub(super) full: u64,
    /// Stops because a thread had no memory, however they ended.
    pub(super) stops: u64,
    /// In ns.
    pub(super) longest_pause: u64,
    /// CPU time, in ns.
    pub(super) busy: u64,
}

/// Counts taken while the simulation runs.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) before: Counts,
    pub(super) warm_up: Counts,
    pub(super) counted: Counts,
    /// Bytes given to threads, as buffers or for one object; and when all threads began.
    pub(super) granted: u64,
    pub(super) granted_before: u64,
    /// Bytes of objects when all threads began.
    pub(super) objects_before: u64,
    /// Of the bytes given to threads until the first collection, those without an object, in
    /// percent.
    pub(super) first_unused: Option<f64>,
    /// Times of the first operations, in ns.
    pub(super) firsts: Histogram<u64>,
    /// Times of operations, in ns.
    pub(super) operations: Histogram<u64>,
    /// Times for which parts of operations stood still for memory, in ns.
    pub(super) waits: Histogram<u64>,
}

impl Default for Tally {
    fn default() -> Tally {
        let histogram = || Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order");
        Tally {
            before: Counts::default(),
            warm_up: Counts::default(),
            counted: Counts::default(),
            granted: 0,
            granted_before: 0,
            objects_before: 0,
            first_unused: None,
            firsts: histogram(),
            operations: histogram(),
            waits: histogram(),
        }
    }
}
