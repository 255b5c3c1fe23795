//! Statistics of a heap: its collections, buffers, stops, memory, and faults that the verifier
//! found.
//!
//! | of | by | as |
//! |---|---|---|
//! | collections | [`Heap::collections`], `on_collection` of the builder | [`CollectionRecord`] |
//! | TLABs | [`Heap::tlab_totals`], [`Mutator::tlab_statistics`] | [`Totals`], [`TlabStatistics`] |
//! | stops | [`Heap::safepoints`] | [`SafepointStatistics`] |
//! | memory | [`Heap::memory`] | [`MemoryUse`] |
//! | faults | [`Heap::verify`] | [`HeapCensus`], [`VerifyError`] |
//!
//! [`Heap::collections`]: crate::Heap::collections
//! [`Heap::tlab_totals`]: crate::Heap::tlab_totals
//! [`Mutator::tlab_statistics`]: crate::Mutator::tlab_statistics
//! [`Heap::safepoints`]: crate::Heap::safepoints
//! [`Heap::memory`]: crate::Heap::memory
//! [`Heap::verify`]: crate::Heap::verify

pub use crate::collector::sizing::{AGES, Collection, Decision, Effort, Need, Reason, Scope};
pub use crate::collector::{
    CollectionKind, CollectionRecord, Collections, CycleRecord, CycleScope, Details, EnlargedEden,
    FullRecord, GenerationsRecord, IdleLook, LastPart, Phase, SizingRecord, Times, WantedWorkers,
    YoungRecord,
};
pub use crate::heap::MemoryUse;
pub use crate::mutator::{
    Attachments, BufferSizes, Cause, Collector, GcOverhead, LateThread, Outcome, SafepointStatistics,
    ThreadIdentity,
};
pub use crate::observe::{BadReference, Fault, HeapCensus, Holder, Problem, SlotPlace, VerifyError};
pub use crate::tlab::budget::BudgetError;
pub use crate::tlab::statistics::{TlabStatistics, Totals};
