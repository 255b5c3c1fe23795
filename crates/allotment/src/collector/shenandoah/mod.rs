//! The concurrent collector of one generation: `Collector=shenandoah`.
//!
//! The files here so far are numbers only: when a cycle begins, and which regions it empties. They
//! know no threads, no memory and no clock, so tests and a simulator ask the same code as the heap.

mod bytes;
pub mod choose;
mod decayed;
mod rate;
mod reason;
pub mod trigger;

#[cfg(all(test, not(loom)))]
mod tests;
