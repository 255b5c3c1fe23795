//! Models of machines that are not at hand: caches under contention, and threads that wait for
//! memory.
//!
//! A model decides with the heap's own code where it can: the sizes of buffers, and the triggers
//! and choices of Shenandoah are the library's. `allotment simulate` has the models.
//!
//! | module | content |
//! |---|---|
//! | [`coherence`] | a model of cache coherence, on machines with more cores |
//! | [`tlab_simulation`] | a model of threads that wait for memory, on any machine |
//! | [`command`] | the command line |

pub mod coherence;
pub mod command;
mod scenario_error;
pub mod tlab_simulation;

pub use scenario_error::ScenarioError;
