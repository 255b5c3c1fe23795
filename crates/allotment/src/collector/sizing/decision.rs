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
    #[error("eden {regions}: share {:.2}% {} {:.2}%", share.0 * 100.0,
        if regions.from < regions.to { "above" } else { "far below" }, share.1 * 100.0)]
    EdenForShare {
        /// Regions it had and regions it should have.
        regions: Change,
        /// The share of time, and the goal.
        share: (f64, f64),
    },
    /// Eden is limited by MaxGCPauseMillis.
    #[error("eden {regions}: pause {:.3} ms, goal {:.3} ms", ms(pause_ns.0), ms(pause_ns.1))]
    EdenForPause {
        /// Regions it should have otherwise, and regions it may have.
        regions: Change,
        /// The expected pause, and the goal.
        pause_ns: (u64, u64),
    },
    /// Eden is limited to the size that the last cache holds: allocation beyond costs more than
    /// collections save, or its cost in the cache is measured first.
    #[error(
        "eden {regions}: a region takes {} ns in the cache, {} ns beyond",
        ns_per_region.0, ns_per_region.1
    )]
    EdenForCache {
        /// Regions it should have otherwise, and regions that the cache holds.
        regions: Change,
        /// Nanoseconds for a region of allocation, collections included: in the cache, and beyond;
        /// 0: not measured.
        ns_per_region: (u64, u64),
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
    #[error("tenuring {threshold}: {}k expected, {}k may survive", bytes.0 / 1024, bytes.1 / 1024)]
    SurvivorsOverflow {
        /// Thresholds, before and after.
        threshold: Change,
        /// Bytes expected to survive, and bytes that may.
        bytes: (usize, usize),
    },
    /// The capacity follows the live bytes after a full collection (MinHeapFreeRatio).
    #[error("capacity {regions}: follows what lives")]
    CapacityFollows {
        /// Regions, before and after.
        regions: Change,
    },
    /// The capacity grows: little became old since the last full collection, so another would free
    /// little.
    #[error("capacity {regions}: {} regions became old, full from {} on", grown.0, grown.1)]
    CapacityGrows {
        /// Regions, before and after.
        regions: Change,
        /// Regions that became old, and the number from which on a full collection pays.
        grown: (usize, usize),
    },
    /// The next collection is full: the capacity is used up, and much became old since the last
    /// full one.
    #[error("full next: {} regions became old, full from {} on", grown.0, grown.1)]
    FullWorth {
        /// Regions that became old, and the number from which on a full collection pays.
        grown: (usize, usize),
    },
    /// The next collection is full: the expected copies of a young one do not fit.
    #[error("full next: {} regions free, {} needed", regions.0, regions.1)]
    FullNoRoom {
        /// Regions that are free, and those needed beside an eden of one region.
        regions: (usize, usize),
    },
    /// The next collection is full: young ones in so little room cost more than a full one does.
    #[error("full next: {} ns/region in young collections, {} with full ones", ns_per_region.0, ns_per_region.1)]
    FullCheaper {
        /// Nanoseconds of collection for a region of allocation: of a young collection, and of all
        /// since the last full one.
        ns_per_region: (u64, u64),
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
