//! A model of cache coherence. Cores have private caches and store buffers, and share a cache with
//! a directory. They execute the allocation patterns that the experiment `tlab` compares, on
//! machines with more cores than this one.
//!
//! The model answers questions of order and ratio: that a private buffer is cheaper than a shared
//! pointer, by how much with every further core, and which protocol message causes the cost.
//!
//! Refused: a simulator of a whole processor. It would come nearer to absolute numbers, but would
//! not be deterministic, quick and readable. Refused: a formula, which would show no single
//! invalidation.
//!
//! | module | content |
//! |---|---|
//! | `protocol` | states of a line: MESI, MESIF, MOESI |
//! | `latencies` | cycles and sizes of a machine |
//! | `scenario` | one pattern on one machine |
//! | `core_set` | sets of cores |
//! | `tags` | the lines that a cache holds |
//! | `private_cache` | a core's copies |
//! | `caches` | the directory: which cores must be asked, and whose copy is the newest; no time |
//! | `invariants` | invariants between the copies of a line |
//! | `counters` | event counts |
//! | `program` | the steps that a core executes |
//! | `engine` | time: store buffers, locked instructions, requests that queue for a line |
//! | `patterns` | the ways to allocate, as programs |
//! | `outcome` | the simulation of a scenario, and its figures |

mod caches;
mod core_set;
mod counters;
mod engine;
mod invariants;
mod latencies;
mod outcome;
mod patterns;
mod private_cache;
mod program;
mod protocol;
mod scenario;
mod tags;

#[cfg(test)]
mod engine_tests;
#[cfg(test)]
mod protocol_tests;

pub use caches::{Caches, Supply, Wanted};
pub use counters::Counters;
pub use engine::{CoherenceEngine, Performed};
pub use latencies::{Geometry, Latencies, Model};
pub use outcome::CoherenceOutcome;
pub use program::{Program, Step};
pub use protocol::{Protocol, State};
pub use scenario::{Arbitration, CoherenceScenario, MAX_CORES, Pattern};
