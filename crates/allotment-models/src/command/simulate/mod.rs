//! `allotment simulate`: simulations of machines that are not at hand.
//!
//! All simulated figures go to standard output, and are the same for the same arguments. The
//! duration, and anything that could not be measured, goes to standard error.

mod coherence;
mod tlab;
mod tlab_figures;

pub use coherence::{CoherenceArguments, HandOver};
pub use tlab::TlabArguments;

use allotment_report::command::Failure;
use clap::ValueEnum;
use std::io::{self, Write as _};
use std::time::Duration;

/// The simulations of `allotment simulate`.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum Simulation {
    /// Caches under contention: the ways to allocate of the experiment `tlab` on up to 256 cores. A
    /// model.
    Coherence(Box<CoherenceArguments>),
    /// Threads that wait for memory: the policies of buffer sizes on machines and in heaps of any
    /// size. A model.
    Tlab(Box<TlabArguments>),
}

impl Simulation {
    /// The advice where nothing follows `simulate`.
    pub const NOTHING_GIVEN: &str =
        "no simulation given; write allotment simulate coherence or allotment simulate tlab";
}

/// Simulates and prints a table. `measure` measures what handing over a cache line costs here,
/// where the user asks for that.
///
/// # Errors
/// [`Failure::Usage`] for numbers that cannot be simulated; [`Failure::Failed`] if threads cannot
/// be bound for calibration, or a file cannot be written; standard output is closed or full.
pub fn simulate(
    simulation: &Simulation,
    measure: impl FnOnce() -> Result<HandOver, Failure>,
) -> Result<(), Failure> {
    match simulation {
        Simulation::Coherence(arguments) => coherence::simulate(arguments, measure),
        Simulation::Tlab(arguments) => tlab::simulate(arguments),
    }
}

/// The user's word for a value.
fn name<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_string())
}

/// Replaces fields by those of the same name that the user gave.
macro_rules! replace_given {
    ($fields:expr, $given:expr, [$($field:ident),+]) => {
        $(if let Some(given) = $given.$field { $fields.$field = given; })+
    };
}
use replace_given;

/// Prints on standard error how much was simulated, and in which time.
fn print_speed(count: u64, what: &str, time: Duration) {
    let (millions, seconds) = (count as f64 / 1e6, time.as_secs_f64());
    let speed = millions / seconds;
    // If standard error is closed, the figures are still right.
    let _ =
        writeln!(io::stderr(), "{millions:.1} million {what} in {seconds:.2} s, {speed:.1} million a second");
}
