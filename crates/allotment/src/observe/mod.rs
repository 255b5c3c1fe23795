//! Observation of the whole heap without changes: the checker, snapshots, sums by shape, layouts, and
//! answers to other processes.

#[doc(hidden)]
pub(crate) mod attach;
mod layout;
mod snapshot;
#[cfg(all(test, not(loom)))]
mod tests;
mod verify;

pub use crate::collector::verify::{BadReference, Fault, HeapCensus, Holder, Problem, SlotPlace};
pub use layout::{LayoutKind, LayoutPart, ShapeLayout};
pub use snapshot::{
    Census, Dominators, Graph, NONE, ShapeCensus, SnapshotError, SnapshotFormat, SnapshotSettings,
    SnapshotSummary,
};
pub use verify::VerifyError;
