//! Thread-local allocation buffers (TLABs): how large, when to refill, what was wasted.
//!
//! What lives here decides and counts; it never touches memory, threads or a clock. The same code therefore
//! runs in the heap, in tests against tables of HotSpot's numbers, and in the simulator that compares the
//! policies (`scenarios.rs`). The alternative, sizing written into the refill path as HotSpot has it, was
//! refused: there a formula can only be tried by running a whole heap.
//!
//! - [`sizing`]: how large a thread's next buffer is, and whether a nearly full one is kept;
//! - [`budget`]: the bound on what the buffers of all threads hold above the smallest size;
//! - [`statistics`]: what a thread's buffers cost, and the line that reports it;
//! - [`counters`]: the same counts while their thread is running.

pub mod budget;
pub mod counters;
#[cfg(all(test, not(loom)))]
mod scenarios;
pub mod sizing;
pub mod statistics;
