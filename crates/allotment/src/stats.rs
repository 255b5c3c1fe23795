//! What a heap tells of itself: its collections, buffers, stops, memory, and faults that the verifier found.
//!
//! | of | by | as |
//! |---|---|---|
//! | collections | [`Heap::collections`](crate::Heap::collections), `on_collection` of the builder | [`CollectionRecord`] |
//! | buffers | [`Heap::tlab_totals`](crate::Heap::tlab_totals), [`Mutator::tlab_statistics`](crate::Mutator::tlab_statistics) | [`Totals`], [`TlabStatistics`] |
//! | stops | [`Heap::safepoints`](crate::Heap::safepoints) | [`SafepointStatistics`] |
//! | memory | [`Heap::memory`](crate::Heap::memory) | [`MemoryUse`] |
//! | faults | [`Heap::verify`](crate::Heap::verify) | [`HeapCensus`], [`VerifyError`] |

pub use crate::collector::sizing::{AGES, Collection, Decision, Effort, Need, Reason, Scope};
pub use crate::collector::{
    CollectionKind, CollectionRecord, Collections, Details, EnlargedEden, FullRecord, IdleLook, LastPart,
    Phase, SizingRecord, Times, WantedWorkers, YoungRecord,
};
pub use crate::heap::MemoryUse;
pub use crate::mutator::{
    Attachments, BufferSizes, Cause, Collector, GcOverhead, LateThread, Outcome, SafepointStatistics,
    ThreadIdentity,
};
pub use crate::observe::{BadReference, Fault, HeapCensus, Holder, Problem, SlotPlace, VerifyError};
pub use crate::tlab::budget::BudgetError;
pub use crate::tlab::statistics::{TlabStatistics, Totals};
