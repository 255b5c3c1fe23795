//! The decision after a collection, and its reasons, in words.
//!
//! Reasons are values, and become text only when they are printed. So a heap without a log formats
//! nothing, and a test can ask which rule decided.

use std::fmt;

/// All sizes until the next collection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Decision {
    /// Regions that mutators may take, humongous runs included, before the next collection; at
    /// least 1.
    pub eden_regions: usize,
    /// Regions that the heap may have in use before the next collection; at most all.
    pub capacity_regions: usize,
    /// Age at which an object becomes old instead of surviving once more: 0..=15.
    pub tenuring_threshold: u8,
    /// Whether the next collection is a full one.
    pub full: bool,
    /// Bytes that may stay young in the next young collection; further bytes become old.
    pub survivor_limit_bytes: usize,
    /// The reasons for changes; empty if nothing changed.
    pub reasons: Vec<Reason>,
}

/// A number before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{from}->{to}")]
pub(crate) struct Change {
    pub from: usize,
    pub to: usize,
}

/// The reason why a size changed. Sizes are in regions, times in nanoseconds, shares between 0 and
/// 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Reason {
    /// Eden grows because young collections take more of the time than they should. Or it shrinks
    /// towards the size that caches hold, because they take far less than they may.
    #[error("eden {regions}: share {:.2}% {} {:.2}%", share * 100.0,
        if regions.from < regions.to { "above" } else { "far below" }, goal * 100.0)]
    EdenForShare {
        /// Regions it had and regions it should have.
        regions: Change,
        /// The share of time that young collections take.
        share: f64,
        /// The share that they should take.
        goal: f64,
    },
    /// Eden is limited by MaxGCPauseMillis.
    #[error("eden {regions}: pause {:.3} ms, goal {:.3} ms", ms(*pause_ns), ms(*goal_ns))]
    EdenForPause {
        /// Regions it should have otherwise, and regions it may have.
        regions: Change,
        /// The expected pause.
        pause_ns: u64,
        /// `MaxGCPauseMillis`.
        goal_ns: u64,
    },
    /// Eden is limited to the size that the last cache holds: allocation beyond costs more than
    /// collections save, or its cost in the cache is measured first.
    #[error("eden {regions}: a region takes {near_ns} ns in the cache, {far_ns} ns beyond")]
    EdenForCache {
        /// Regions it should have otherwise, and regions that the cache holds.
        regions: Change,
        /// Time for a region of allocation in the cache, collections included; 0 if it was not
        /// measured.
        near_ns: u64,
        /// Time for a region of allocation beyond the cache, collections included; 0 if it was not
        /// measured.
        far_ns: u64,
    },
    /// Eden is limited by MaxNewSize, or by the free room for it and its survivors.
    #[error("eden {regions}: {limit}")]
    EdenLimited {
        /// Regions it should have otherwise, and regions it may have.
        regions: Change,
        /// `MaxNewSize`, or `room`.
        limit: &'static str,
    },
    /// Eden takes half of the free capacity: the threads' buffers alone are far more than the last
    /// cache holds.
    #[error("eden {regions}: beyond the cache anyway, {room} regions free")]
    EdenTakesSpare {
        /// Regions it needs, and regions it takes.
        regions: Change,
        /// Regions of the capacity that are free.
        room: usize,
    },
    /// The threshold moves to the age from which an object's further survival costs least.
    #[error("tenuring {threshold}: best {best}, old byte costs {old_cost:.2} copies")]
    Tenuring {
        /// Thresholds, before and after.
        threshold: Change,
        /// The age with the least cost.
        best: u8,
        /// Cost of a byte of garbage in the old generation, in copies of a byte.
        old_cost: f64,
    },
    /// The threshold falls: survivors exceed the bytes that may stay young.
    #[error("tenuring {threshold}: {}k expected, {}k may survive", expected_bytes / 1024, limit_bytes / 1024)]
    SurvivorsOverflow {
        /// Thresholds, before and after.
        threshold: Change,
        /// Bytes that are expected to survive.
        expected_bytes: usize,
        /// Bytes that may survive and stay young.
        limit_bytes: usize,
    },
    /// The capacity follows the live bytes after a full collection (MinHeapFreeRatio).
    #[error("capacity {regions}: follows the live objects")]
    CapacityFollows {
        /// Regions, before and after.
        regions: Change,
    },
    /// The capacity grows: little became old since the last full collection, so another would free
    /// little.
    #[error("capacity {regions}: {grown} regions became old, full from {worth} on")]
    CapacityGrows {
        /// Regions, before and after.
        regions: Change,
        /// Regions that became old since the last full collection.
        grown: usize,
        /// The number of such regions from which on a full collection pays.
        worth: usize,
    },
    /// The next collection is full: the capacity is used up, and much became old since the last
    /// full one.
    #[error("full next: {grown} regions became old, full from {worth} on")]
    FullWorth {
        /// Regions that became old since the last full collection.
        grown: usize,
        /// The number of such regions from which on a full collection pays.
        worth: usize,
    },
    /// The next collection is full: the expected copies of a young one do not fit.
    #[error("full next: {free} regions free, {needed} needed")]
    FullNoRoom {
        /// Regions that are free.
        free: usize,
        /// Regions that an eden of one region and its copies need.
        needed: usize,
    },
    /// The next collection is full: young ones in so little room cost more than a full one does.
    #[error("full next: {young_ns} ns/region in young collections, {all_ns} with full ones")]
    FullCheaper {
        /// Time of a young collection for a region of allocation.
        young_ns: u64,
        /// Time for a region of allocation of all collections since the last full one, the next
        /// full one included.
        all_ns: u64,
    },
    /// The next collection is full: weak handles of dead old objects live long enough.
    #[error("full next: {young} young collections, {handles} weak handles")]
    FullForWeakHandles {
        /// Young collections since the last full one.
        young: usize,
        /// Weak handles.
        handles: usize,
    },
    /// The next collection is full: this one found no memory for objects it had to move.
    #[error("full next: no memory for {}k", bytes.div_ceil(1024))]
    FullAfterFailure {
        /// Bytes left in place.
        bytes: usize,
    },
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

impl fmt::Display for Decision {
    /// One line: the sizes, then the reasons in brackets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "next {}: eden {}, capacity {}, tenuring {}, survivors {}k",
            if self.full { "full" } else { "young" },
            self.eden_regions,
            self.capacity_regions,
            self.tenuring_threshold,
            self.survivor_limit_bytes / 1024,
        )?;
        for (index, reason) in self.reasons.iter().enumerate() {
            write!(f, "{}{reason}", if index == 0 { " [" } else { "; " })?;
        }
        if self.reasons.is_empty() { Ok(()) } else { f.write_str("]") }
    }
}
