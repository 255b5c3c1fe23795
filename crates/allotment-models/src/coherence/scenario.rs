//! One pattern on one machine, and its figures.

use super::counters::Counters;
use super::engine::{Arbitration, Engine, SplitMix};
use super::latencies::{Geometry, Latencies};
use super::patterns::{Allocator, Pattern, TOP, Work};
use super::protocol::Protocol;

/// The most cores of a scenario.
pub const MAX_CORES: usize = 256;

/// The eden is reused from its start after this many bytes: more than a shared cache, and little to
/// simulate.
const MAX_EDEN: u64 = 32 << 20;

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

/// The figures of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Objects, over all cores.
    pub operations: u64,
    /// Locked instructions that tried to take memory or a lock.
    pub attempts: u64,
    /// Locked instructions that took memory or a lock.
    pub successes: u64,
    /// Cycles until a core finished, summed over the cores.
    pub cycles: u64,
    /// Cycles until the last core finished.
    pub last: u64,
    /// The final value of the shared pointer.
    pub top: u64,
    /// The counts of the caches.
    pub counters: Counters,
}

impl Outcome {
    /// Cycles that a core needed for an object.
    pub fn cycles_per_operation(&self) -> f64 {
        self.per_operation(self.cycles)
    }

    /// A sum, per object.
    pub fn per_operation(&self, sum: u64) -> f64 {
        sum as f64 / self.operations as f64
    }

    /// Locked instructions per one that succeeded; NaN if none was needed.
    pub fn attempts_per_success(&self) -> f64 {
        self.attempts as f64 / self.successes as f64
    }
}

impl Scenario {
    /// Simulates the scenario.
    ///
    /// # Errors
    /// A number is outside the range that can be simulated.
    pub fn run(&self) -> Result<Outcome, ScenarioError> {
        self.check()?;
        let taken = self.operations.saturating_mul(self.cores as u64).saturating_mul(self.size);
        let buffers = 2 * self.buffer * self.cores as u64;
        let eden = taken.saturating_add(buffers).min(MAX_EDEN).max(self.buffer).next_multiple_of(64);
        let (pattern, cores, size) = (self.pattern, self.cores, self.size);
        let work = Work { pattern, cores, size, buffer: self.buffer, operations: self.operations, eden };
        let mut random = SplitMix(self.seed);
        let programs = (0..cores).map(|core| Allocator::new(work, core, random.below(100))).collect();
        let (protocol, latencies, geometry) = (self.protocol, self.latencies, self.geometry);
        let mut engine =
            Engine::new(programs, work.bytes(), protocol, latencies, geometry, self.arbitration, self.seed);
        engine.run();
        let ends: Vec<u64> = engine.finished().flatten().collect();
        debug_assert_eq!(ends.len(), cores, "a core waits for ever");
        let sum = |of: fn(&Allocator) -> u64| (0..cores).map(|core| of(engine.program(core))).sum();
        let (attempts, successes) = (sum(|program| program.attempts), sum(|program| program.successes));
        let counters = engine.caches.counters.clone();
        Ok(Outcome {
            operations: self.operations * cores as u64,
            attempts,
            successes,
            cycles: ends.iter().sum(),
            last: ends.iter().copied().max().unwrap_or(0),
            top: engine.caches.load(0, TOP).0,
            counters,
        })
    }

    fn check(&self) -> Result<(), ScenarioError> {
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
