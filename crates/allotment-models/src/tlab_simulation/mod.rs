//! A model of threads, buffers, regions and a collector: how long do threads wait for memory on a
//! machine that is not at hand?
//!
//! The experiments `storm` and `extremem` ask that of this machine. The heap of 512 GiB and the 16
//! CPUs of JDK-8359947's largest configuration are seldom at hand. This model has the heap's own
//! code where the answer is decided: the six policies of buffer sizes, the budget of idle buffers,
//! the trigger of cycles, and the choice of regions. What threads and collectors cost is numbers,
//! and time is an event queue.
//!
//! Refused: a formula for the number of threads that wait. The answer comes from who takes memory
//! between two collections, and that depends on when CPUs are free.
//!
//! | module | content |
//! |---|---|
//! | `scenario` | what is simulated |
//! | `preset` | scenarios like the experiments |
//! | `regions` | who has which memory |
//! | `thread` | a thread, its operation and its buffer |
//! | `memory` | refills, with the policies' own code |
//! | `tally` | counts |
//! | `operation` | what threads do |
//! | `cpus` | tasks that take CPUs in turn; stops of the world |
//! | `collect` | the collector's state, and what is alive |
//! | `cycle` | cycles beside threads |
//! | `room` | stops because a thread finds no memory |
//! | `engine` | events |
//! | `outcome` | the figures |

mod collect;
mod cpus;
mod cycle;
mod engine;
mod memory;
mod operation;
mod outcome;
mod preset;
mod regions;
mod room;
mod scenario;
mod tally;
#[cfg(test)]
mod tests;
mod thread;

pub use outcome::Outcome;
pub use preset::{Like, Shop, concurrent_workers};
pub use scenario::{
    Arrival, CollectorModel, Costs, MAX_CPUS, MAX_OPERATIONS, MAX_REGIONS, MAX_THREADS, Rebuild, Scenario,
};

use crate::ScenarioError;

/// Simulates a scenario. The same scenario has the same outcome.
///
/// # Errors
/// A number cannot be simulated.
pub fn simulate(scenario: &Scenario) -> Result<Outcome, ScenarioError> {
    let mut engine = engine::Engine::new(scenario)?;
    while engine.step() {}
    Ok(engine.outcome())
}
