//! What this layer asks of a collector.

use crate::mutator::{GcOverhead, Mutator};
use std::fmt;

/// Why a collection begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// There was no room for an allocation.
    AllocationFailure,
    /// The embedder asked for it.
    Requested,
    /// There would soon have been no room, and no thread of the heap ran: `CollectWhenIdle`.
    Idle,
    /// The heap is being tested: `ZealInterval`.
    Zeal,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Cause::AllocationFailure => "Allocation Failure",
            Cause::Requested => "Requested",
            Cause::Idle => "Idle",
            Cause::Zeal => "Zeal",
        })
    }
}

/// What came of asking for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// This thread collected, or found room without; there is nothing more that the collector can do.
    Collected,
    /// Another thread collected, or stopped the world for something else, while this one stood still.
    Elsewhere,
    /// The system refused memory that a collection needs.
    Refused,
    /// This collector does not collect.
    Never,
    /// This thread collected. Collections take too much of the time for what they free, so that the
    /// allocation is to fail.
    OverLimit(GcOverhead),
}

/// Collects garbage. One per heap, chosen when the heap is built.
pub trait Collector: Send + Sync {
    /// Its name, as options and logs say it.
    fn name(&self) -> &'static str;

    /// Does all it can to find room. May be a safepoint of the calling thread. If this thread collects, `satisfied`
    /// runs before other threads do, with a mutator whose allocations nobody else can take; while it says no, the
    /// collector goes on trying, as far as it can. It may also run while others do, and be all that it took.
    fn collect(
        &self,
        mutator: &mut Mutator<'_>,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome;

    /// How often it has answered [`Outcome::OverLimit`], and with what the last time.
    fn over_limit(&self) -> Option<(u64, GcOverhead)> {
        None
    }

    /// The embedder let something go, after an allocation had failed: what collections before could
    /// free says nothing any more.
    fn embedder_let_go(&self) {}

    /// The heap was emptied, while no thread was attached: what the collector remembers of its regions is not true any
    /// more. How many regions may be in use from now on; `None`: as many as before.
    fn emptied(&self) -> Option<usize> {
        None
    }

    /// In a child of `fork()`: whether none of the collector's locks is held there. Who held one is
    /// not there to give it back.
    fn is_at_rest(&self) -> bool {
        true
    }

    /// In a child of `fork()`: the collector's threads are not there. It neither waits for them nor
    /// wakes them again, but starts others. Takes no lock.
    fn forget_threads(&self) {}
}
