//! How large a thread's next buffer is, and whether a nearly full buffer is kept.
//!
//! There are six policies, so that one program can compare them:
//!
//! | policy | first buffer | later buffers | largest |
//! |---|---|---|---|
//! | `adaptive` | the floor, 16 KiB | doubles while it refills quickly, halves when idle | region |
//! | `hotspot` | capacity / threads / 50 | share of the last cycles' allocation / 50 | region |
//! | `hotspot-8381834` | a tenth of that at first | as `hotspot`, up to x16 within a cycle | region |
//! | `shenandoah` | as `hotspot` | as `hotspot`, newer cycles weigh 90 % | region |
//! | `shenandoah-8359947` | region / 256, min. 32 KiB | as `hotspot` | region / 32, min. 256 KiB |
//! | `epsilon` | 2 KiB | x1.1 per refill, from the start again after idling | 4 MiB |
//!
//! Sources: HotSpot's `threadLocalAllocBuffer.cpp`, JDK-8381834, JDK-8359947, `epsilonHeap.cpp`. No
//! buffer of any policy is larger than a region, because a buffer lies in one region.
//!
//! Everything is integer arithmetic on bytes, except the two averages, which are HotSpot's 32-bit
//! floats.
//!
//! Refused: a trait per policy instead of one type with a `match`. A refill has about 20 ns to
//! spend. A predicted branch is cheaper than an indirect call, and easier to read than a generic
//! parameter on every caller.

mod adaptive;
mod average;
mod averages;
mod config;
mod epsilon;
mod hotspot;
mod shenandoah;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;

pub(crate) use average::Average;
pub use averages::{Averages, HeapCycle};
pub use config::{Config, Settings};
pub use thread::{Cycle, Request, Sizing};

use crate::object::WORD;

/// `bytes` rounded down to whole words.
const fn align_down(bytes: usize) -> usize {
    bytes & !(WORD - 1)
}
