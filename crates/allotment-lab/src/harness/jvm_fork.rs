//! One fork on a JVM: starts JMH, waits for its end, and reads its result file.
//!
//! JMH starts a JVM of its own for the benchmark. Refused: measuring in JMH's own process (`-f 0`),
//! which would save half a second. JMH gives only the second JVM the flags that make black holes
//! free and keep its loops from being unrolled, and warns against `-f 0`.

use super::fork_process::{End, Fork, describe};
use super::jvm_case::JvmCase;
use super::protocol::{IterationRecord, Measured};
use super::supervised::Supervised;
use super::{Case, Interrupt, JmhMode, Plan, SecondaryValue};
use crate::format::phrase::count;
use crate::format::time::iteration_time;
use crate::format::{Combine, Entry, Metric, Origin, Samples, ScoreRow, read_json, read_text, told};
use crate::jvm::process::{cause_in, tie, without_hidden_options};
use crate::statistics::Weighted;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Flags of JMH's own process, which only waits and writes: a small heap, and no compiler that would
/// compete with the benchmark for CPUs. JMH's lock is ignored: its file may belong to another user,
/// and the run has a lock of its own ([`Lock`](super::Lock)).
const HOST_FLAGS: [&str; 5] =
    ["-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djmh.ignoreLock=true"];

/// The ends of the labels of maxima.
const LARGEST: [&str; 3] = [".max", ".p100", ".peak"];

/// Bytes of standard output that are kept for the message of a failure.
const KEPT: usize = 64 << 10;

/// The order to a fork on a JVM.
pub(super) struct JvmOrder<'a> {
    pub(super) jar: &'a Path,
    pub(super) on_jvm: &'a JvmCase,
    pub(super) case: &'a Case,
    pub(super) plan: Plan,
}

/// Runs a fork to its end. The fork may report nothing for at most `silence`.
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
        command.args(["-to", &iteration_time(longest)]);
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
        command.args(["-w", &iteration_time(plan.warmup_time), "-r", &iteration_time(plan.time)]);
    }
    command
}

/// Runs JMH until it ends, has been silent for too long, or the user interrupts. Returns the JVM's
/// warnings: if the JVM ignores a flag, the row is not the requested one.
fn supervise(command: &mut Command, silence: Duration, interrupt: &Interrupt) -> Result<String, End> {
    without_hidden_options(command);
    tie(command);
    let mut process = Supervised::start(command.stdin(Stdio::null())).map_err(End::Failed)?;
    let mut said = String::new();
    while let Some(line) = process.next(silence, interrupt)? {
        said += &(line + "\n");
        // The exception of a failing benchmark comes last.
        if said.len() > 2 * KEPT {
            said = said.split_off(said.ceil_char_boundary(said.len() - KEPT));
        }
    }
    // A process that closes standard output ends soon after, or is killed.
    let (status, complaints) = process.finish(silence);
    let status = status.map_err(|error| End::Failed(format!("it cannot be waited for: {error}")))?;
    said += &complaints;
    if status.success() {
        return Ok(warnings(&said));
    }
    Err(End::Failed(format!("it {}; it said: {}", describe(&status), cause_in(&said))))
}

/// HotSpot's warnings of flags that it ignores, each line once.
fn warnings(said: &str) -> String {
    let mut lines: Vec<&str> = said.lines().filter(|line| line.contains(" VM warning: ")).collect();
    lines.dedup();
    lines.join("\n")
}

/// The iterations in JMH's result file. JMH's scores and errors are ignored: all rows of a table are
/// computed from their values in the same way.
fn read(order: &JvmOrder<'_>, results: &Path) -> anyhow::Result<(Vec<IterationRecord>, Origin)> {
    let text = read_text(results).context("JMH's result cannot be read")?;
    let mut entries = read_json(&text).context("JMH's result cannot be read")?;
    let Some(Entry { row, origin }) = entries.pop().filter(|_| entries.is_empty()) else {
        bail!("JMH's result does not have exactly one benchmark");
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
        // JMH does not report its number of calls.
        calls: 0,
        nanoseconds_per_call: 0.0,
        secondary: row.secondary.iter().filter_map(|metric| secondary(metric, index, all)).collect(),
    };
    measured.into_iter().enumerate().map(record).collect()
}

/// A metric's value in an iteration. A metric with one value per fork belongs to the first
/// iteration.
fn secondary(metric: &Metric, index: usize, all: usize) -> Option<SecondaryValue> {
    let values = match &metric.samples {
        Samples::Values(forks) => forks.concat(),
        Samples::Histograms(_) => Vec::new(),
        Samples::Stated(summary) => vec![summary.mean],
    };
    let value = *values.get(index).filter(|value| !value.is_nan() && (values.len() == all || index == 0))?;
    let (label, unit) = (metric.label.clone(), metric.unit.clone());
    // In JMH's file one value, a sum of it and a maximum of it look the same. The label tells.
    let is_maximum = values.len() == 1 && LARGEST.iter().any(|end| label.ends_with(end));
    let combine =
        if is_maximum && metric.combine == Combine::Sum { Combine::Maximum } else { metric.combine };
    Some(SecondaryValue { label, unit, combine, value, times: Vec::new() })
}

#[cfg(test)]
#[path = "jvm_fork_tests.rs"]
mod tests;
