//! One fork on a JVM: starts JMH, hears it out, and reads what it has written.
//!
//! JMH starts a JVM of its own for what it measures. Measuring in JMH's own process (`-f 0`) would
//! save half a second of start, and was refused: the flags that make its black holes free and keep
//! its loops from being unrolled into one are given to that second JVM alone, and JMH itself warns
//! against it.

use super::fork_process::{End, Fork, describe};
use super::jvm_case::JvmCase;
use super::protocol::{IterationRecord, Measured};
use super::supervised::Supervised;
use super::{Case, Interrupt, JmhMode, Plan, SecondaryValue};
use crate::format::phrase::count;
use crate::format::{Combine, Entry, Metric, Origin, Samples, ScoreRow, read_json, read_text, told};
use crate::jvm::process::{last_words, tie, without_hidden_options};
use crate::statistics::Weighted;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Flags of the process that only waits and writes: a small heap, and no compiler that would
/// compete for the CPUs with what is measured. JMH's lock is ignored: the run has a lock of its own
/// ([`Lock`](super::Lock)), whose file may belong to another user.
const HOST_FLAGS: [&str; 5] =
    ["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djmh.ignoreLock=true"];

/// How labels of maxima end.
const LARGEST: [&str; 3] = [".max", ".p100", ".peak"];

/// What of standard output is kept for a failure, in bytes.
const KEPT: usize = 64 << 10;

/// What a fork on a JVM needs to know.
pub(super) struct JvmOrder<'a> {
    pub(super) jar: &'a Path,
    pub(super) on_jvm: &'a JvmCase,
    pub(super) case: &'a Case,
    pub(super) plan: Plan,
}

/// Runs a fork to its end. `silence` is how long it may say nothing.
pub(super) fn run(order: &JvmOrder<'_>, silence: Duration, interrupt: &Interrupt) -> Fork {
    let results = match tempfile::Builder::new().prefix("allotment-jmh-").tempfile() {
        Ok(file) => file.into_temp_path(),
        Err(error) => return Fork::silent(End::Failed(format!("no file for JMH's result: {error}"))),
    };
    let complaints = match supervise(&mut command(order, &results), silence, interrupt) {
        Ok(complaints) => complaints,
        Err(end) => return Fork::silent(end),
    };
    match read(order, &results) {
        Ok((iterations, machine)) => {
            Fork { iterations, machine: Some(machine), complaints, ..Fork::silent(End::Finished) }
        }
        Err(error) => Fork::silent(End::Failed(told(&error))),
    }
}

/// The command line of JMH.
fn command(order: &JvmOrder<'_>, results: &Path) -> Command {
    let JvmOrder { jar, on_jvm, case, plan } = order;
    let mut command = Command::new(on_jvm.jvm.jdk.java());
    command.args(HOST_FLAGS).arg("-jar").arg(jar);
    command.arg(format!("^{}$", on_jvm.workload.benchmark.replace('.', r"\.")));
    for (name, value) in &on_jvm.workload.params {
        command.args(["-p", &format!("{name}={value}")]);
    }
    if let Some(operations) = on_jvm.workload.operations {
        command.args(["-opi", &operations.to_string()]);
    }
    if let Some(longest) = on_jvm.workload.whole {
        command.args(["-to", &jmh_time(longest)]);
    }
    if let Some(profiler) = on_jvm.workload.profiler {
        command.args(["-prof", profiler]);
    }
    let settings = [
        ("-f", "1".to_string()),
        ("-t", case.threads.to_string()),
        ("-bm", case.jmh_mode.to_string()),
        ("-tu", case.unit.name().to_string()),
        ("-wi", plan.warmup_iterations.to_string()),
        ("-i", plan.iterations.to_string()),
        ("-jvmArgs", on_jvm.flags().join(" ")),
        ("-prof", "gc".to_string()),
        ("-foe", "true".to_string()),
        ("-rf", "json".to_string()),
        ("-rff", results.display().to_string()),
    ];
    for (option, value) in settings {
        command.args([option, &value]);
    }
    if case.jmh_mode != JmhMode::SingleShot {
        command.args(["-w", &jmh_time(plan.warmup_time), "-r", &jmh_time(plan.time)]);
    }
    command
}

/// A time as JMH's options take it: a number of 31 bits and a unit, so in the largest that divides
/// it.
fn jmh_time(time: Duration) -> String {
    let nanoseconds = time.as_nanos();
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    let unit = units.into_iter().find(|(_, length)| nanoseconds.is_multiple_of(*length));
    let (unit, length) = unit.unwrap_or(("ns", 1));
    format!("{}{unit}", nanoseconds / length)
}

/// Runs JMH until it ends, has been silent for too long, or the user wants the end. Returns the
/// JVM's warnings: with a flag that the JVM ignores, the row is another than was asked for.
fn supervise(command: &mut Command, silence: Duration, interrupt: &Interrupt) -> Result<String, End> {
    without_hidden_options(command);
    tie(command);
    let mut process = Supervised::start(command.stdin(Stdio::null())).map_err(End::Failed)?;
    let mut said = String::new();
    while let Some(line) = process.next(silence, interrupt)? {
        said += &(line + "\n");
        // What a failing benchmark throws comes last.
        if said.len() > 2 * KEPT {
            said = said.split_off(said.ceil_char_boundary(said.len() - KEPT));
        }
    }
    // A process that closes standard output ends soon after, or has to.
    let (status, complaints) = process.finish(silence);
    let status = status.map_err(|error| End::Failed(format!("it cannot be waited for: {error}")))?;
    said += &complaints;
    if status.success() {
        return Ok(warnings(&said));
    }
    Err(End::Failed(format!("it {}; it said: {}", describe(&status), last_words(&said))))
}

/// What HotSpot says of flags it cannot obey, each line once.
fn warnings(said: &str) -> String {
    let mut lines: Vec<&str> = said.lines().filter(|line| line.contains(" VM warning: ")).collect();
    lines.dedup();
    lines.join("\n")
}

/// The iterations that JMH has written down. Its scores and errors are left: they are computed from
/// the values as ours are, so that no two rows of a table are computed in two ways.
fn read(order: &JvmOrder<'_>, results: &Path) -> anyhow::Result<(Vec<IterationRecord>, Origin)> {
    let text = read_text(results).context("JMH's result cannot be read")?;
    let mut entries = read_json(&text).context("JMH's result cannot be read")?;
    let Some(Entry { row, origin }) = entries.pop().filter(|_| entries.is_empty()) else {
        bail!("JMH's result has more than one benchmark, or none");
    };
    let expected = order.case.unit.of_score(order.case.jmh_mode);
    if row.primary.unit != expected {
        bail!("it measured in {} instead of {expected}", row.primary.unit);
    }
    let iterations = records(order, &row);
    if iterations.len() != order.plan.iterations as usize {
        bail!("it measured {} instead of {}", count(iterations.len(), "iteration"), order.plan.iterations);
    }
    Ok((iterations, origin))
}

fn records(order: &JvmOrder<'_>, row: &ScoreRow) -> Vec<IterationRecord> {
    let unit = order.case.unit.nanoseconds();
    let in_nanoseconds = |&(value, times): &Weighted| ((value * unit).round() as u64, times);
    let histogram = |counts: &Vec<Weighted>| Measured::Histogram(counts.iter().map(in_nanoseconds).collect());
    let measured: Vec<Measured> = match &row.primary.samples {
        Samples::Values(forks) => forks.iter().flatten().copied().map(Measured::Value).collect(),
        Samples::Histograms(forks) => forks.iter().flatten().map(histogram).collect(),
        Samples::Stated(_) => Vec::new(),
    };
    let all = measured.len();
    let record = |(index, measured)| IterationRecord {
        warmup: false,
        measured,
        // JMH does not write down how often it called.
        calls: 0,
        nanoseconds_per_call: 0.0,
        secondary: row.secondary.iter().filter_map(|metric| secondary(metric, index, all)).collect(),
    };
    measured.into_iter().enumerate().map(record).collect()
}

/// A metric's value in an iteration. What is known once in a fork is told with its first.
fn secondary(metric: &Metric, index: usize, all: usize) -> Option<SecondaryValue> {
    let values = match &metric.samples {
        Samples::Values(forks) => forks.concat(),
        Samples::Histograms(_) => Vec::new(),
        Samples::Stated(summary) => vec![summary.mean],
    };
    let value = *values.get(index).filter(|value| !value.is_nan() && (values.len() == all || index == 0))?;
    let (label, unit) = (metric.label.clone(), metric.unit.clone());
    // JMH writes one value, its sum and its maximum alike. Labels of maxima end like ours.
    let is_maximum = values.len() == 1 && LARGEST.iter().any(|end| label.ends_with(end));
    let combine =
        if is_maximum && metric.combine == Combine::Sum { Combine::Maximum } else { metric.combine };
    Some(SecondaryValue { label, unit, combine, value, times: Vec::new() })
}

#[cfg(test)]
#[path = "jvm_fork_tests.rs"]
mod tests;
