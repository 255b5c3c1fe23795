//! A scenario to simulate: one pattern on one machine.

use super::latencies::{Geometry, Latencies};
use super::protocol::Protocol;
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
    /// As `cas`, after a pause that doubles with each failure.
    BackOff,
    /// A fetch-and-add on the shared pointer.
    FetchAdd,
    /// The pointer under a lock that is taken by test-and-set, waiting on a copy of one's own.
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
pub struct Scenario {
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

/// Why a scenario cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// No cores, or more than [`MAX_CORES`].
    #[error("{0} cores cannot be simulated; 1 to {MAX_CORES} can")]
    Cores(usize),
    /// No objects, or too many to count cycles.
    #[error("{0} operations per core cannot be simulated; 1 to 1000000000 can")]
    Operations(u64),
    /// Not a valid object size.
    #[error("an object of {0} bytes cannot be simulated; multiples of 8 from 16 to 65536 can")]
    Size(u64),
    /// Not a valid buffer size.
    #[error("a buffer of {0} bytes cannot be simulated; multiples of 8 from the object's size to 16 MiB can")]
    Buffer(u64),
    /// A latency of zero cycles.
    #[error("a latency of {0} cycles cannot be simulated; 1 to 1000000 can")]
    Latency(u64),
}

impl Scenario {
    /// Checks all numbers.
    ///
    /// # Errors
    /// A number is outside the range that can be simulated.
    pub(super) fn check(&self) -> Result<(), ScenarioError> {
        let Latencies { l1, l2, l3, forward, hitm, upgrade, memory, lock, keep } = self.latencies;
        if !(1..=MAX_CORES).contains(&self.cores) {
            return Err(ScenarioError::Cores(self.cores));
        }
        if !(1..=1_000_000_000).contains(&self.operations) {
            return Err(ScenarioError::Operations(self.operations));
        }
        if !(16..=65_536).contains(&self.size) || !self.size.is_multiple_of(8) {
            return Err(ScenarioError::Size(self.size));
        }
        if !(self.size..=16 << 20).contains(&self.buffer) || !self.buffer.is_multiple_of(8) {
            return Err(ScenarioError::Buffer(self.buffer));
        }
        let wrong = |latency: &u64| !(1..=1_000_000).contains(latency);
        match [l1, l2, l3, forward, hitm, upgrade, memory, lock, keep].into_iter().find(wrong) {
            Some(latency) => Err(ScenarioError::Latency(latency)),
            None => Ok(()),
        }
    }
}
