//! The messages between parent and fork: an order on standard input, a JSON object per line on
//! standard output.
//!
//! Text and not a binary encoding, so that `allotment fork` can be run by hand, and so that a stray
//! print in an experiment is seen as what it is.

use super::{Bench, Case, Experiment, Plan, SecondaryValue, Watch};
use crate::format::phrase::count;
use crate::format::told;
use crate::machine::die_with_parent;
use allotment_jit::PerfMap;
use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};

/// The order to a fork.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The case.
    pub case: Case,
    /// Its iterations.
    pub plan: Plan,
    /// For each thread the CPU it is bound to, if any.
    pub cpus: Vec<Option<usize>>,
    /// The counters and samples besides the clock.
    #[serde(default)]
    pub watch: Watch,
    /// Process id of the parent, without which the fork is not to live on.
    pub parent: u32,
}

/// A line from a fork.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Message {
    /// An iteration is over.
    Iteration(IterationRecord),
    /// Where the time of measured windows went, in lines with ends.
    Profile(String),
    /// All iterations are over.
    Finished,
    /// The fork gives up; the text says why.
    Failed(String),
}

/// The outcome of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct IterationRecord {
    /// Whether it only warms up.
    pub(super) warmup: bool,
    /// The score's part.
    pub(super) measured: Measured,
    /// Calls within the window, of the thread that made the fewest.
    pub(super) calls: u64,
    /// Mean time of a call, in nanoseconds.
    pub(super) nanoseconds_per_call: f64,
    /// Everything else that was counted.
    pub(super) secondary: Vec<SecondaryValue>,
}

/// The part of the score that an iteration gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Measured {
    /// A value in the case's unit.
    Value(f64),
    /// Nanoseconds per operation and how often each occurred, ascending.
    Histogram(Vec<(u64, u64)>),
}

/// The whole life of a fork: reads an order, measures, writes messages.
///
/// # Errors
/// The order is not one, or nobody reads the messages. Everything that happens while measuring is a
/// message, not an error.
pub fn run_fork(
    experiments: &[&Experiment],
    mut input: impl Read,
    mut output: impl Write,
) -> anyhow::Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text).context("cannot read the order")?;
    let order: Order = serde_json::from_str(&text)
        .context("standard input holds no order; forks are started by `allotment run`")?;
    let mut send = |message: &Message| -> anyhow::Result<()> {
        let line = serde_json::to_string(message)? + "\n";
        output.write_all(line.as_bytes()).and_then(|()| output.flush()).context("cannot report a result")
    };
    let ended = match measure(experiments, &order, &mut send) {
        Ok(()) => Message::Finished,
        Err(error) => Message::Failed(told(&error)),
    };
    send(&ended)
}

fn measure(
    experiments: &[&Experiment],
    order: &Order,
    send: &mut dyn FnMut(&Message) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    die_with_parent(order.parent)?;
    let name = &order.case.experiment;
    let experiment = Experiment::of(&order.case, experiments)
        .with_context(|| format!("there is no experiment `{name}`"))?;
    let names = order.watch.profile.then(NamesOfMadeCode::new);
    let mut report = |record| send(&Message::Iteration(record));
    let mut bench = Bench::new(&order.case, order.plan, &order.cpus, &mut report).watching(&order.watch);
    (experiment.run)(&order.case, &mut bench)?;
    let (done, wanted) = (bench.iterations_done(), order.plan.warmup_iterations + order.plan.iterations);
    if done != wanted {
        bail!("experiment `{name}` measured {} instead of {wanted}", count(done as usize, "iteration"));
    }
    drop(names);
    match bench.profile().map(String::from) {
        Some(profile) => send(&Message::Profile(profile)),
        None => Ok(()),
    }
}

/// While there is this, experiments that make code give it names, in the perf map of the process.
struct NamesOfMadeCode;

impl NamesOfMadeCode {
    fn new() -> NamesOfMadeCode {
        // Without it there are addresses instead of names.
        let _ = PerfMap::open();
        NamesOfMadeCode
    }
}

impl Drop for NamesOfMadeCode {
    fn drop(&mut self) {
        // Nobody reads it when the process has ended.
        let _ = std::fs::remove_file(PerfMap::path());
    }
}
