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

/// The reason why a size changed. Sizes are in regions, times in nanoseconds, shares between 0 and
/// 1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) enum Reason {
    /// Eden grows: young collections take more of the time than they should.
    EdenGrows {
        /// Regions it had and regions it should have.
        regions: (usize, usize),
        /// The share of time, and the goal.
        share: (f64, f64),
    },
    /// Eden shrinks towards the size that caches hold: young collections take far less of the time
    /// than they may.
    EdenShrinks {
        /// Regions it had and regions it should have.
        regions: (usize, usize),
        /// The share of time, and the goal.
        share: (f64, f64),
    },
    /// Eden is limited by MaxGCPauseMillis.
    EdenForPause {
        /// Regions it should have otherwise, and regions it may have.
        regions: (usize, usize),
        /// The expected pause, and the goal.
        pause_ns: (u64, u64),
    },
    /// Eden is limited to the size that the last cache holds: allocation beyond costs more than
    /// collections save, or its cost in the cache is measured first.
    EdenForCache {
        /// Regions it should have otherwise, and regions that the cache holds.
        regions: (usize, usize),
        /// Nanoseconds for a region of allocation, collections included: in the cache, and beyond;
        /// 0: not measured.
        ns_per_region: (u64, u64),
    },
    /// Eden is limited by MaxNewSize.
    EdenForMaxNewSize {
        /// Regions it should have otherwise, and regions it may have.
        regions: (usize, usize),
    },
    /// Eden is limited by the free room for it and its survivors.
    EdenForRoom {
        /// Regions it should have otherwise, and regions that fit.
        regions: (usize, usize),
    },
    /// Eden takes half of the free capacity: the threads' buffers alone are far more than the last
    /// cache holds.
    EdenTakesSpare {
        /// Regions it needs, and regions it takes.
        regions: (usize, usize),
        /// Regions of the capacity that are free.
        room: usize,
    },
    /// The threshold moves to the age from which an object's further survival costs least.
    Tenuring {
        /// Thresholds, before and after.
        threshold: (u8, u8),
        /// The age with the least cost.
        best: u8,
        /// Cost of a byte of garbage in the old generation, in copies of a byte.
        old_cost: f64,
    },
    /// The threshold falls: survivors exceed the bytes that may stay young.
    SurvivorsOverflow {
        /// Thresholds, before and after.
        threshold: (u8, u8),
        /// Bytes expected to survive, and bytes that may.
        bytes: (usize, usize),
    },
    /// The capacity follows the live bytes after a full collection (MinHeapFreeRatio).
    CapacityFollows {
        /// Regions, before and after.
        regions: (usize, usize),
    },
    /// The capacity grows: little became old since the last full collection, so another would free
    /// little.
    CapacityGrows {
        /// Regions, before and after.
        regions: (usize, usize),
        /// Regions that became old, and the number from which on a full collection is worth while.
        grown: (usize, usize),
    },
    /// The next collection is full: the capacity is used up, and much became old since the last
    /// full one.
    FullWorth {
        /// Regions that became old, and the number from which on a full collection is worth while.
        grown: (usize, usize),
    },
    /// The next collection is full: the expected copies of a young one do not fit.
    FullNoRoom {
        /// Regions that are free, and those needed beside an eden of one region.
        regions: (usize, usize),
    },
    /// The next collection is full: young ones in so little room cost more than a full one does.
    FullCheaper {
        /// Nanoseconds of collection for a region of allocation: of a young collection, and of all
        /// since the last full one.
        ns_per_region: (u64, u64),
    },
    /// The next collection is full: this one found no memory for objects it had to move.
    FullAfterFailure {
        /// Bytes left in place.
        bytes: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: u64| ns as f64 / 1e6;
        match *self {
            Reason::EdenGrows { regions: (from, to), share: (is, goal) } => {
                write!(f, "eden {from}->{to}: share {:.2}% above {:.2}%", is * 100.0, goal * 100.0)
            }
            Reason::EdenShrinks { regions: (from, to), share: (is, goal) } => {
                write!(f, "eden {from}->{to}: share {:.2}% far below {:.2}%", is * 100.0, goal * 100.0)
            }
            Reason::EdenForPause { regions: (from, to), pause_ns: (is, goal) } => {
                write!(f, "eden {from}->{to}: pause {:.3} ms, goal {:.3} ms", ms(is), ms(goal))
            }
            Reason::EdenForCache { regions: (from, to), ns_per_region: (near, far) } => {
                write!(f, "eden {from}->{to}: a region takes {near} ns in the cache, {far} ns beyond")
            }
            Reason::EdenForMaxNewSize { regions: (from, to) } => write!(f, "eden {from}->{to}: MaxNewSize"),
            Reason::EdenForRoom { regions: (from, to) } => write!(f, "eden {from}->{to}: room"),
            Reason::EdenTakesSpare { regions: (from, to), room } => {
                write!(f, "eden {from}->{to}: beyond the cache anyway, {room} regions free")
            }
            Reason::Tenuring { threshold: (from, to), best, old_cost } => {
                write!(f, "tenuring {from}->{to}: best {best}, old byte costs {old_cost:.2} copies")
            }
            Reason::SurvivorsOverflow { threshold: (from, to), bytes: (is, limit) } => {
                write!(f, "tenuring {from}->{to}: {}k expected, {}k may survive", is / 1024, limit / 1024)
            }
            Reason::CapacityFollows { regions: (from, to) } => {
                write!(f, "capacity {from}->{to}: follows what lives")
            }
            Reason::CapacityGrows { regions: (from, to), grown: (is, worth) } => {
                write!(f, "capacity {from}->{to}: {is} regions became old, full from {worth} on")
            }
            Reason::FullWorth { grown: (is, worth) } => {
                write!(f, "full next: {is} regions became old, full from {worth} on")
            }
            Reason::FullNoRoom { regions: (free, needed) } => {
                write!(f, "full next: {free} regions free, {needed} needed")
            }
            Reason::FullCheaper { ns_per_region: (young, all) } => {
                write!(f, "full next: {young} ns/region in young collections, {all} with full ones")
            }
            Reason::FullAfterFailure { bytes } => {
                write!(f, "full next: no memory for {}k", bytes.div_ceil(1024))
            }
        }
    }
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
