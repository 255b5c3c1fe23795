//! The messages between parent and fork: an order on standard input, a JSON object per line on
//! standard output.
//!
//! Refused: a binary encoding. `allotment fork` can be run by hand, and a stray print of an
//! experiment is recognised.

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
    /// The CPU of each thread that is bound to one.
    pub cpus: Vec<Option<usize>>,
    /// The counters and samples besides the clock.
    #[serde(default)]
    pub watch: Watch,
    /// Process id of the parent. The fork ends with it.
    pub parent: u32,
}

/// A line from a fork.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Message {
    /// An iteration is over.
    Iteration(IterationRecord),
    /// The profile of the measured windows, in lines with ends.
    Profile(String),
    /// All iterations are over.
    Finished,
    /// The fork gives up; the text says why.
    Failed(String),
}

/// The outcome of an iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct IterationRecord {
    /// Whether the iteration only warms up.
    pub(super) warmup: bool,
    /// The score's part.
    pub(super) measured: Measured,
    /// Calls within the window, of the thread that made the fewest.
    pub(super) calls: u64,
    /// Mean time of a call, in nanoseconds.
    pub(super) nanoseconds_per_call: f64,
    /// All other values.
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
/// There is no order, or the messages have no reader. An error while measuring is a message.
pub fn run_fork(
    experiments: &[&Experiment],
    mut input: impl Read,
    mut output: impl Write,
) -> anyhow::Result<()> {
    let mut text = String::new();
    input.read_to_string(&mut text).context("cannot read the order")?;
    let order: Order = serde_json::from_str(&text)
        .context("standard input holds no order; forks are started by `allotment run`")?;
    let mut send = |message: &Message| send(&mut output, message);
    let ended = match measure(experiments, &order, &mut send) {
        Ok(()) => Message::Finished,
        Err(error) => Message::Failed(told(&error)),
    };
    send(&ended)
}

/// Writes a message as a line of JSON.
///
/// # Errors
/// The messages have no reader.
pub(super) fn send(output: &mut impl Write, message: &impl Serialize) -> anyhow::Result<()> {
    let line = serde_json::to_string(message)? + "\n";
    output.write_all(line.as_bytes()).and_then(|()| output.flush()).context("cannot report a result")
}

fn measure(
    experiments: &[&Experiment],
    order: &Order,
    send: &mut dyn FnMut(&Message) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    die_with_parent(order.parent).context("the process that started this one is gone")?;
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

/// While a value of this type lives, code made at run time gets names, in the perf map of the
/// process.
struct NamesOfMadeCode;

impl NamesOfMadeCode {
    fn new() -> NamesOfMadeCode {
        // Without the file, the profile has addresses instead of names.
        let _ = PerfMap::open();
        NamesOfMadeCode
    }
}

impl Drop for NamesOfMadeCode {
    fn drop(&mut self) {
        // The file has no reader after the process has ended.
        let _ = std::fs::remove_file(PerfMap::path());
    }
}
