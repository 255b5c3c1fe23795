//! Statistics of a heap: its collections, buffers, stops, memory, and faults that the verifier
//! found.
//!
//! | of | by | as |
//! |---|---|---|
//! | collections | [`Heap::collections`], `on_collection` of the builder | [`CollectionRecord`] |
//! | TLABs | [`Heap::tlab_totals`], [`Mutator::tlab_statistics`] | [`Totals`], [`TlabStatistics`] |
//! | stops, attached threads, sums over collections, roots | [`Heap::metrics`] | [`Metrics`] |
//! | attached threads | [`Heap::threads`] | [`AttachedThread`] |
//! | memory | [`Heap::memory`] | [`MemoryUse`] |
//! | live objects by shape | [`Heap::census`] | [`Census`] |
//! | all live objects | [`Heap::snapshot`] | [`SnapshotSummary`] |
//! | parts of objects | [`Shape::layout`] | [`ShapeLayout`] |
//! | all of these but objects and faults, for monitoring | [`Heap::metrics`] | [`Metrics`] |
//! | faults | [`Heap::verify`] | [`HeapCensus`], [`VerifyError`] |
//! | allocations, by samples | [`Heap::allocation_profile`] | [`AllocationProfile`] |
//!
//! [`Heap::collections`]: crate::Heap::collections
//! [`Heap::tlab_totals`]: crate::Heap::tlab_totals
//! [`Mutator::tlab_statistics`]: crate::Mutator::tlab_statistics
//! [`Heap::safepoints`]: crate::Heap::safepoints
//! [`Heap::threads`]: crate::Heap::threads
//! [`Heap::memory`]: crate::Heap::memory
//! [`Heap::census`]: crate::Heap::census
//! [`Heap::snapshot`]: crate::Heap::snapshot
//! [`Heap::metrics`]: crate::Heap::metrics
//! [`Heap::verify`]: crate::Heap::verify
//! [`Heap::allocation_profile`]: crate::Heap::allocation_profile
//! [`Shape::layout`]: crate::raw::Shape::layout

pub use crate::collector::sizing::{AGES, Collection, Decision, Effort, Need, Reason, Scope};
pub use crate::collector::{
    CollectionKind, CollectionRecord, CollectionSums, Collections, CycleRecord, CycleScope, Details,
    EnlargedEden, FullRecord, GenerationsRecord, IdleLook, LastPart, OldMarking, Phase, SizingRecord, Times,
    WantedWorkers, YoungRecord,
};
pub use crate::mutator::{
    AttachedThread, Attachments, BufferSizes, Cause, Collector, DEFAULT_SAMPLE_INTERVAL, GcOverhead,
    LateThread, Outcome, RootCounts, RootKind, SafepointStatistics, Stalls, ThreadActivity, ThreadIdentity,
    sample_probability,
};
pub use crate::observe::{
    AllocationProfile, AllocationSite, BadReference, Census, Fault, HeapCensus, Holder, LayoutKind,
    LayoutPart, MemoryUse, Metric, MetricValue, Metrics, Problem, ProfileError, ShapeCensus, ShapeLayout,
    SlotPlace, SnapshotError, SnapshotFormat, SnapshotSettings, SnapshotSummary, VerifyError,
};
pub use crate::region::RegionUse;
pub use crate::time_histogram::TimeHistogram;
pub use crate::tlab::budget::BudgetError;
pub use crate::tlab::statistics::{TlabStatistics, Totals};
