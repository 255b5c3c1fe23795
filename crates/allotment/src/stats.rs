//! Statistics of a heap: its memory, threads and collections, its objects, and the faults that the
//! verifier found.
//!
//! | question | call | answer |
//! |---|---|---|
//! | how much memory is in use | [`Heap::memory`] | [`MemoryUse`] |
//! | what each attached thread does | [`Heap::threads`] | [`AttachedThread`] |
//! | what the calling thread's buffers cost | [`Mutator::tlab_statistics`] | [`TlabStatistics`] |
//! | what all threads' buffers cost | [`Heap::tlab_totals`] | [`TlabTotals`] |
//! | what the latest collections did | [`Heap::collections`] | [`CollectionHistory`] |
//! | what each collection did | [`HeapBuilder::on_collection`] | [`CollectionRecord`] |
//! | all sums and levels, for monitoring | [`Heap::metrics`] | [`Metrics`] |
//! | which code allocates | [`Heap::allocation_profile`] | [`AllocationProfile`] |
//! | which shapes have most bytes | [`Heap::census`] | [`Census`] |
//! | which objects live, and who holds them | [`Heap::snapshot`] | a file, and its [`SnapshotSummary`] |
//! | where the parts of an object lie | [`Shape::layout`] | [`ShapeLayout`] |
//! | whether the heap is sound | [`Heap::verify`] | [`VerifySummary`], or a [`VerifyError`] |
//!
//! [`Heap::memory`]: crate::Heap::memory
//! [`Heap::threads`]: crate::Heap::threads
//! [`Mutator::tlab_statistics`]: crate::Mutator::tlab_statistics
//! [`Heap::tlab_totals`]: crate::Heap::tlab_totals
//! [`Heap::collections`]: crate::Heap::collections
//! [`HeapBuilder::on_collection`]: crate::heap::HeapBuilder::on_collection
//! [`Heap::metrics`]: crate::Heap::metrics
//! [`Heap::allocation_profile`]: crate::Heap::allocation_profile
//! [`Heap::census`]: crate::Heap::census
//! [`Heap::snapshot`]: crate::Heap::snapshot
//! [`Shape::layout`]: crate::raw::Shape::layout
//! [`Heap::verify`]: crate::Heap::verify

pub use crate::collector::{
    CollectionHistory, CollectionKind, CollectionRecord, CollectionSums, CycleDetails, CycleScope,
    FullDetails, GenerationsDetails, OldMarking, Phase, TimePercentiles, WantedWorkers, YoungDetails,
};
pub use crate::mutator::{
    AttachedThread, Attachments, Cause, DEFAULT_SAMPLE_INTERVAL, GcOverhead, LateThread, RootCounts,
    RootKind, SafepointStatistics, Stalls, ThreadActivity, ThreadIdentity, sample_probability,
};
pub use crate::object::WalkError;
pub use crate::observe::{
    AllocationProfile, AllocationSite, BadReference, Census, Fault, Holder, LayoutKind, LayoutPart,
    MemoryUse, Metric, MetricValue, Metrics, Problem, ProfileError, ShapeCensus, ShapeLayout, SlotPlace,
    SnapshotError, SnapshotFormat, SnapshotSettings, SnapshotSummary, VerifyError, VerifySummary,
};
pub use crate::region::RegionUse;
pub use crate::time_histogram::TimeHistogram;
pub use crate::tlab::statistics::{TlabStatistics, TlabTotals};
