//! Observation of the whole heap without changes: the checker.

#[cfg(all(test, not(loom)))]
mod tests;
mod verify;

pub use crate::collector::verify::{BadReference, Fault, HeapCensus, Holder, Problem, SlotPlace};
pub use verify::VerifyError;
