//! The view of a heap from its program and from other processes.
//!
//! | room | answers |
//! |---|---|
//! | `figures.rs` | how much memory is in use, what threads do, what was collected |
//! | `metrics/` | the figures that a monitor reads every few seconds, with names |
//! | `profile/` | which code allocates what, estimated from samples |
//! | `snapshot/` | which objects live, and who holds them: files, sums by shape |
//! | `layout.rs` | where the parts of an object lie |
//! | `verify.rs` | whether the heap is sound |
//! | `attach/` | the questions of other processes |
//! | `at_end.rs` | what a heap writes when it ends |
//!
//! This is the top layer. It reads all others, and changes nothing unless a caller from outside the
//! process asks for it. The reports of a collection under way are below, in the collector:
//! records, the log and the rows of a timeline. Refused: a hook for each of them, so that their
//! text could be made here. A record would then be complete in two layers, and a test of a
//! collector could not print it.

mod at_end;
pub(crate) mod attach;
mod figures;
mod layout;
mod metrics;
pub(crate) mod profile;
mod snapshot;
#[cfg(all(test, not(loom)))]
mod tests;
mod verify;

pub use crate::collector::verify::{BadReference, Fault, Holder, Problem, SlotPlace, VerifySummary};
pub use figures::MemoryUse;
pub use layout::{LayoutKind, LayoutPart, ShapeLayout};
pub use metrics::{Metric, MetricValue, Metrics};
pub use profile::{AllocationProfile, AllocationSite, ProfileError};
pub use snapshot::{
    Census, Dominators, Graph, NONE, ShapeCensus, SnapshotError, SnapshotFormat, SnapshotSettings,
    SnapshotSummary,
};
pub use verify::VerifyError;
