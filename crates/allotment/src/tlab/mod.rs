//! Thread-local allocation buffers (TLABs): their size, the time of a refill, and their waste.
//!
//! This module decides and counts; it never touches memory, threads or a clock. So the same code
//! runs in the heap, in tests against tables of HotSpot's numbers, and in the simulator that
//! compares the policies (`scenarios.rs`).
//!
//! Refused: sizing written into the refill path, as in HotSpot. There a formula can only be tried
//! by running a whole heap.
//!
//! - [`sizing`]: how large a thread's next buffer is, and whether a nearly full one is kept;
//! - [`budget`]: the bound on the bytes that the buffers of all threads hold above the smallest
//!   size;
//! - [`statistics`]: the counts of a thread's buffers, and the line that reports their cost.

pub(crate) mod budget;
#[cfg(all(test, not(loom)))]
mod scenarios;
pub(crate) mod sizing;
pub(crate) mod statistics;
