//! A model of cache coherence: cores with private caches and store buffers, a shared cache with a directory, and the
//! ways to allocate that the experiment `tlab` compares, on machines with more cores than this one.
//!
//! It is there for orderings and ratios: that a buffer of one's own is cheaper than a shared pointer, by how much more
//! with every core, and which message of the protocol that costs. A simulator of a whole processor would be nearer to
//! absolute numbers, and no longer deterministic, quick and readable; a formula would show no single invalidation.
//!
//! | module | knows |
//! |---|---|
//! | `protocol` | states of a line: MESI, MESIF (Goodman and Hum 2009), MOESI (Sweazey and Smith 1986) |
//! | `latencies` | cycles and sizes of a machine |
//! | `core_set` | which cores |
//! | `tags` | which lines a cache holds |
//! | `private_cache` | a core's copies |
//! | `caches` | the directory: who must be asked, and whose copy is the last; no time |
//! | `invariants` | what always holds between the copies of a line |
//! | `counters` | what is counted |
//! | `program` | what a core executes |
//! | `engine` | time: store buffers, locked instructions, requests that queue for a line |
//! | `patterns` | the ways to allocate, as programs |
//! | `scenario` | one pattern on one machine, and its figures |

mod caches;
mod core_set;
mod counters;
mod engine;
mod invariants;
mod latencies;
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
pub use engine::{Arbitration, Engine, Performed};
pub use latencies::{Geometry, Latencies, Model};
pub use patterns::Pattern;
pub use program::{Program, Step};
pub use protocol::{Protocol, State};
pub use scenario::{MAX_CORES, Outcome, Scenario, ScenarioError};
