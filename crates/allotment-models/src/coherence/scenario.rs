//! A scenario to simulate: one pattern on one machine.

use super::latencies::{Geometry, Latencies};
use super::protocol::Protocol;
use crate::scenario_error::{ScenarioError, within, wrong};
use clap::ValueEnum;

/// The most cores of a scenario.
pub const MAX_CORES: usize = 256;

/// How a core gets memory for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Pattern {
    /// It bumps a pointer in a buffer of its own, and takes a new buffer by compare-and-swap on a
    /// shared pointer.
    Tlab,
    /// Compare-and-swap on the shared pointer for each object, at once again when it fails.
    Cas,
    /// Compare-and-swap, after a failure with a pause that doubles each time.
    BackOff,
    /// A fetch-and-add on the shared pointer.
    FetchAdd,
    /// The pointer under a test-and-set lock, whose waiters spin on their own copy.
    Lock,
    /// The pointer under a lock that hands out tickets.
    Ticket,
}

/// Which of the queued cores gets a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arbitration {
    /// The core that came first.
    Fifo,
    /// Any core, by the seed.
    Random,
    /// The core with the number nearest to the last one's, as on a ring.
    Nearest,
}

/// The machine and the pattern to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoherenceScenario {
    /// How cores allocate memory.
    pub pattern: Pattern,
    /// The coherence protocol of their caches.
    pub protocol: Protocol,
    /// 1 to [`MAX_CORES`].
    pub cores: usize,
    /// Objects that each core allocates, at least 1.
    pub operations: u64,
    /// Bytes of an object: a multiple of 8, 16 to 65,536.
    pub size: u64,
    /// Bytes of a core's buffer: a multiple of 8, at least an object, at most 16 MiB.
    pub buffer: u64,
    /// The latencies of accesses.
    pub latencies: Latencies,
    /// The sizes of the caches.
    pub geometry: Geometry,
    /// Which of the queued cores gets a line.
    pub arbitration: Arbitration,
    /// The seed for the cores' beginnings and for random arbitration. The same seed gives the same
    /// run.
    pub seed: u64,
}

impl CoherenceScenario {
    /// Checks all numbers.
    ///
    /// # Errors
    /// A number is outside the range that can be simulated.
    pub(super) fn check(&self) -> Result<(), ScenarioError> {
        let Latencies { l1, l2, l3, forward, hitm, upgrade, memory, lock, keep } = self.latencies;
        within("a number of cores", self.cores, 1..=MAX_CORES, "")?;
        within("a number of operations", self.operations, 1..=1_000_000_000, "")?;
        if !(16..=65_536).contains(&self.size) || !self.size.is_multiple_of(8) {
            return wrong("an object", format!("{} bytes", self.size), "multiples of 8 from 16 to 65536 can");
        }
        if !(self.size..=16 << 20).contains(&self.buffer) || !self.buffer.is_multiple_of(8) {
            let found = format!("{} bytes", self.buffer);
            return wrong("a buffer", found, "multiples of 8 from the object's size to 16 MiB can");
        }
        let mut latencies = [l1, l2, l3, forward, hitm, upgrade, memory, lock, keep].into_iter();
        latencies.try_for_each(|latency| within("a latency", latency, 1..=1_000_000, " cycles"))
    }
}
