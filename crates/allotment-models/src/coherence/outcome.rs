//! A simulation of one scenario, and its figures.

use super::counters::Counters;
use super::engine::CoherenceEngine;
use super::patterns::{Allocator, TOP, Work};
use super::scenario::CoherenceScenario;
use crate::ScenarioError;
use allotment_report::random::Random;

/// The eden is reused from its start after this many bytes: more than a shared cache, and little to
/// simulate.
const MAX_EDEN: u64 = 32 << 20;

/// The figures of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoherenceOutcome {
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

impl CoherenceOutcome {
    /// Cycles that a core needed for an object.
    pub fn cycles_per_operation(&self) -> f64 {
        self.per_operation(self.cycles)
    }

    /// Cycles that a core waited for data or its store buffer, per object.
    pub fn stalls_per_operation(&self) -> f64 {
        self.per_operation(self.counters.stall_cycles)
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

impl CoherenceScenario {
    /// Simulates the scenario.
    ///
    /// # Errors
    /// A number is outside the range that can be simulated.
    pub fn run(&self) -> Result<CoherenceOutcome, ScenarioError> {
        self.check()?;
        let taken = self.operations.saturating_mul(self.cores as u64).saturating_mul(self.size);
        let buffers = 2 * self.buffer * self.cores as u64;
        let eden = taken.saturating_add(buffers).min(MAX_EDEN).max(self.buffer).next_multiple_of(64);
        let work = Work { scenario: *self, eden };
        let (mut random, cores) = (Random::new(self.seed), self.cores);
        let programs = (0..cores).map(|core| Allocator::new(work, core, random.below(100) as u64)).collect();
        let mut engine = CoherenceEngine::new(programs, work.bytes(), self);
        engine.run();
        let ends: Vec<u64> = engine.finished().flatten().collect();
        debug_assert_eq!(ends.len(), cores, "a core waits for ever");
        let sum = |of: fn(&Allocator) -> u64| (0..cores).map(|core| of(engine.program(core))).sum();
        let (attempts, successes) = (sum(|program| program.attempts), sum(|program| program.successes));
        Ok(CoherenceOutcome {
            operations: self.operations * cores as u64,
            attempts,
            successes,
            cycles: ends.iter().sum(),
            last: ends.iter().copied().max().unwrap_or(0),
            counters: engine.caches.counters.clone(),
            top: engine.caches.load(0, TOP).0,
        })
    }
}
