//! The rule by which a nearly full heap gives up.
//!
//! A heap that is full except for a little garbage makes room for a few objects with each full
//! collection. It never runs out of memory, but its program makes no progress. So an allocation
//! fails (`UseGCOverheadLimit`) if [`GcOverhead::FULL_COLLECTIONS`] full collections in a row left
//! less than `GCHeapFreeLimit` of the heap free, and took more than `GCTimeLimit` of the time.
//!
//! - **Only collections that an allocation needed cost time.** The embedder decides how often it
//!   asks for one; such a collection can only show that enough is free. Running time always counts.
//! - **A stop counts once**, by its first full collection. Others follow it in the same stop if the
//!   allocation still fails.
//! - **Young collections between two full ones** cost time, and are not counted.
//! - **The time exceeds its limit** if it did so between most of the full collections of the row,
//!   the last two included. One pause in which the machine was suspended is not most of them, and
//!   one wait of the program does not hide the others. HotSpot's average is spoilt for long by such
//!   a pause.
//! - **The limit stays exceeded** until a collection shows otherwise: each further allocation that
//!   needs a full collection has one, and fails. Only a collection shows whether the program
//!   released memory.
//! - **Tests by `ZealInterval`** collect although memory is available, so they end a row.
//!
//! Refused: failure without a collection for a while after a failure. A program that drops its
//! cache and tries again at once would fail again. Refused: a limit on the bytes allocated between
//! two full collections. Such a limit is better if holes are too small, but a heap far below
//! MaxHeapSize that grows by small steps exceeds the limit, too.
//!
//! For a concurrent collector `collecting` is the time for which allocations waited: stops in which
//! a cycle or a full collection ran, and the help of threads for a cycle. A cycle that ends in such
//! a stop costs time, and is not counted. If cycles in stops take more than `GCTimeLimit` of the
//! time and leave less than `GCHeapFreeLimit` free, a full collection follows at once. A cycle that
//! ends while threads run costs no time, and ends a row if it leaves enough free.

use super::Extent;
use crate::mutator::GcOverhead;
use crate::options::Options;
use std::time::Duration;

/// The number of the full collections in a row that must have been dear.
const MOST: u32 = GcOverhead::FULL_COLLECTIONS / 2 + 1;

/// `GCTimeLimit` and `GCHeapFreeLimit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OverheadSettings {
    /// Percentage of the time that collections may take.
    pub time_percent: u32,
    /// Percentage of the heap that a full collection has to leave free.
    pub free_percent: u32,
}

impl OverheadSettings {
    /// The limits that the options set; `None` without `UseGCOverheadLimit`.
    pub(crate) fn from_options(options: &Options) -> Option<OverheadSettings> {
        options.use_gc_overhead_limit.then_some(OverheadSettings {
            time_percent: options.gc_time_limit as u32,
            free_percent: options.gc_heap_free_limit as u32,
        })
    }
}

/// The party that needed a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// An allocation for which there was no room.
    Allocation,
    /// An allocation for which a full collection in the same stop was not enough.
    AllocationStill,
    /// No allocation: the embedder asked, or no thread ran.
    None,
    /// A test, by `ZealInterval`.
    Test,
}

/// A collection, with the data that the limit needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// The part of the heap that was collected.
    pub extent: Extent,
    /// The party that needed the collection.
    pub need: Need,
    /// The time for which threads waited for the collection.
    pub collecting: Duration,
    /// The time for which threads had run before.
    pub running: Duration,
    /// Bytes that are free after the collection.
    pub free_bytes: usize,
    /// Bytes of the heap.
    pub heap_bytes: usize,
}

/// Counts the cost and yield of collections.
#[derive(Clone, Debug)]
pub(crate) struct OverheadLimit {
    settings: OverheadSettings,
    /// Time since the last full collection that counted.
    collecting: Duration,
    running: Duration,
    /// Full collections in a row that left too little; at most [`GcOverhead::FULL_COLLECTIONS`].
    row: u32,
    /// A bit for each of them, the latest lowest; set if the collection was dear.
    dear: u32,
}

impl OverheadLimit {
    /// The limit of a heap in which nothing was collected yet.
    pub(crate) fn new(settings: OverheadSettings) -> OverheadLimit {
        OverheadLimit { settings, collecting: Duration::ZERO, running: Duration::ZERO, row: 0, dear: 0 }
    }

    /// Adds a collection. Returns the counts so far, and whether its allocation has to fail.
    pub(crate) fn after(&mut self, done: &Effort) -> GcOverhead {
        self.running = self.running.saturating_add(done.running);
        if matches!(done.need, Need::Allocation | Need::AllocationStill) {
            self.collecting = self.collecting.saturating_add(done.collecting);
        }
        let mut overhead = GcOverhead {
            collecting: self.collecting,
            running: self.running,
            free_bytes: done.free_bytes,
            heap_bytes: done.heap_bytes,
            time_limit_percent: self.settings.time_percent,
            free_limit_percent: self.settings.free_percent,
            ..GcOverhead::default()
        };
        let counts = (done.extent, done.need) == (Extent::Full, Need::Allocation);
        if self.leaves_enough(done.free_bytes, done.heap_bytes) || done.need == Need::Test {
            self.begin_anew();
        } else if counts {
            let dear = is_dear(self.settings.time_percent, self.collecting, self.running);
            self.row = (self.row + 1).min(GcOverhead::FULL_COLLECTIONS);
            self.dear = (self.dear << 1 | u32::from(dear)) & ((1 << GcOverhead::FULL_COLLECTIONS) - 1);
            overhead.exceeded = self.row == GcOverhead::FULL_COLLECTIONS
                && self.dear & 0b11 == 0b11
                && self.dear.count_ones() >= MOST;
            (self.collecting, self.running) = (Duration::ZERO, Duration::ZERO);
        }
        overhead.full_collections = self.row;
        overhead
    }

    /// Whether the next full collection may be the deciding one. That collection must free all it
    /// can.
    pub(crate) fn is_near(&self) -> bool {
        self.row + 1 >= GcOverhead::FULL_COLLECTIONS
    }

    /// Whether this many free bytes are enough, of a heap of `heap_bytes`.
    pub(crate) fn leaves_enough(&self, free_bytes: usize, heap_bytes: usize) -> bool {
        free_bytes as u128 * 100 >= u128::from(self.settings.free_percent) * heap_bytes as u128
    }

    /// Forgets the past: the heap was emptied, or the embedder released memory.
    pub(crate) fn begin_anew(&mut self) {
        *self = OverheadLimit::new(self.settings);
    }
}

/// Whether `collecting` is more than `percent` of all time.
fn is_dear(percent: u32, collecting: Duration, running: Duration) -> bool {
    let all = collecting.as_nanos() + running.as_nanos();
    collecting.as_nanos() * 100 > u128::from(percent) * all
}
