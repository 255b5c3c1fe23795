//! The commands that only print, and the two hidden commands: a fork, and the neighbours of a fork.

use crate::harness::neighbours::run_neighbours;
use crate::harness::{Axis, Experiment, run_fork};
use crate::machine::Machine;
use allotment::Heap;
use allotment::internals::platform::Topology;
use allotment::options::manual;
use allotment_report::command::{Failure, print, wrapped};
use std::fmt::Write as _;
use std::io;

/// `allotment list`.
///
/// # Errors
/// Standard output is closed or full.
pub fn list(experiments: &[&Experiment]) -> Result<(), Failure> {
    let mut text = String::new();
    for experiment in experiments {
        let _ = writeln!(text, "{}: {}", experiment.name, experiment.question);
        for mode in experiment.modes {
            let measures: Vec<String> = mode.jmh_modes.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "  {:<20} {} [{}]", mode.name, mode.what, measures.join(", "));
        }
        for axis in experiment.axes {
            let flag = format!("--{}", axis.name);
            let _ = writeln!(
                text,
                "  {flag:<20} {} [{}; quick {}]{}",
                axis.what,
                values(axis, axis.default),
                values(axis, axis.quick),
                if axis.modes.is_empty() { String::new() } else { format!(" ({})", axis.modes.join(", ")) }
            );
        }
    }
    print(&wrapped(&text))
}

/// Values in readable form.
fn values(axis: &Axis, texts: &[&str]) -> String {
    let label =
        |text: &&str| axis.canonical(text).map_or_else(|_| text.to_string(), |value| axis.label(&value));
    texts.iter().map(label).collect::<Vec<_>>().join(",")
}

/// `allotment machine`.
///
/// # Errors
/// Standard output is closed or full.
pub fn machine() -> Result<(), Failure> {
    let machine = Machine::detect(&Topology::detect());
    let mut text = String::new();
    for (name, value) in &machine.facts {
        let _ = writeln!(text, "{name:<14} {value}");
    }
    print(&wrapped(&text))
}

/// `allotment options`: the heap's options as the environment sets them.
///
/// # Errors
/// The environment's options are wrong, or standard output is closed or full.
pub fn options() -> Result<(), Failure> {
    let set = Heap::builder().resolve().map_err(anyhow::Error::from)?;
    print(&manual(&set))
}

/// `allotment fork`, which `allotment run` starts.
///
/// # Errors
/// There is no order on standard input, or the reader of the results has closed the pipe.
pub fn fork(experiments: &[&Experiment]) -> Result<(), Failure> {
    Ok(run_fork(experiments, io::stdin().lock(), io::stdout().lock())?)
}

/// `allotment neighbour`, which `allotment run` starts beside a fork.
///
/// # Errors
/// There is no order on standard input, the order cannot be followed, or the reader of the result
/// has closed the pipe.
pub fn neighbour() -> Result<(), Failure> {
    Ok(run_neighbours(io::stdin().lock(), io::stdout().lock())?)
}
