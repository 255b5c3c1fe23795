//! The command line of the models: `allotment simulate`.

mod simulate;

pub use simulate::{CoherenceArguments, HandOver, Simulation, TlabArguments, simulate};
