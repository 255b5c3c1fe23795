//! The frame of every measuring command: sees that no other one measures, prints the estimated time,
//! records how noisy the machine was, and says at the end how far the figures can be trusted.

use super::Failure;
use crate::format::phrase::count;
use crate::format::time::rough;
use crate::format::{OutputFile, Report, check_files, printable, width};
use crate::harness::{Circumstances, Estimate, Lock, LockError, Outcome, Run, case_name, run, warnings};
use crate::machine::{Noise, placement};
use allotment::internals::platform::Topology;
use anyhow::Context;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The flags of all measuring commands.
#[derive(Clone, Debug, clap::Args)]
pub struct MeasuringArguments {
    /// Measure even if another allotment measures on this machine.
    #[arg(long)]
    pub ignore_lock: bool,

    /// Print no progress and no estimate on standard error.
    #[arg(long)]
    pub quiet: bool,
}

/// This program's own file, whose hidden commands are forks and neighbours.
///
/// # Errors
/// It is not found.
pub(super) fn this_program() -> anyhow::Result<PathBuf> {
    std::env::current_exe().context("cannot find this program's own file")
}

/// Measures the cases of a run, with `usable` threads that make progress at once. Prints the
/// estimated time before.
pub(super) fn measure(measured: &Run<'_>, usable: usize) -> (Outcome, Circumstances) {
    say(measured.quiet, &planned(measured));
    let before = Noise::read(Path::new("/"));
    let start = Instant::now();
    let outcome = run(measured);
    say(measured.quiet, &format!("measuring took {}", rough(start.elapsed())));
    (outcome, Circumstances { before, after: Noise::read(Path::new("/")), cpus: usable })
}

/// The cases of a run and about how long they take, in a sentence.
fn planned(run: &Run<'_>) -> String {
    let on_jvms = &run.on_jvms.cases;
    let of =
        |cases: usize, forks: u32| format!("{} x {}", count(cases, "case"), count(forks as usize, "fork"));
    let mut planned = of(run.cases.len(), run.settings.forks());
    if !on_jvms.is_empty() {
        planned += &format!(" and {} on JVMs", of(on_jvms.len(), run.settings.jvm_forks()));
    }
    let estimate = Estimate::of_run(run.cases, on_jvms, run.settings, run.experiments);
    format!("{planned}, {}", estimate.describe())
}

/// A line for each case with the estimate of its forks, and a line for the whole run.
pub(super) fn plan(run: &Run<'_>) -> String {
    let mut text = String::new();
    let mut line = |name: String, forks: u32, estimate: Estimate| {
        let _ = writeln!(text, "{name}: {}, {}", count(forks as usize, "fork"), estimate.describe());
    };
    let Run { experiments, settings, .. } = run;
    for (index, case) in run.cases.iter().enumerate() {
        let estimate = Estimate::of_case(case, settings, experiments);
        line(case_name(case, experiments, None), settings.forks(), estimate);
        for on_jvm in run.on_jvms.cases.iter().filter(|on_jvm| on_jvm.beside == index) {
            let estimate = Estimate::of_jvm_case(on_jvm, run.cases, settings, experiments);
            line(case_name(case, experiments, Some(on_jvm)), settings.jvm_forks(), estimate);
        }
    }
    text + &planned(run) + "\n"
}

/// Opens the file of `--json`, if the user named one.
///
/// # Errors
/// The path is `-`, or the file cannot be written.
pub(super) fn open_json(path: Option<&Path>) -> Result<Option<OutputFile>, Failure> {
    check_files(&[], path.map(|path| ("--json", path)).as_slice())?;
    Ok(path.map(OutputFile::open).transpose()?)
}

/// Prints to standard error, unless `quiet`.
pub(super) fn say(quiet: bool, text: &str) {
    if !quiet {
        tell(text);
    }
}

/// Prints a line on standard error, wrapped where the terminal is narrow.
pub(super) fn tell(text: &str) {
    // A closed standard error does not stop the measurement.
    let _ =
        writeln!(io::stderr(), "{}", width::lines(&printable(text), width::of_sentences(width::of_errors())));
}

/// A warning if the lab was built without optimisation: its loops and the heap are then slower than
/// in users' builds.
fn warning_of_build() -> Option<String> {
    let text = "this is a debug build, whose figures say nothing; build it with cargo build --release";
    cfg!(debug_assertions).then(|| text.into())
}

/// Prints that warning.
pub(super) fn warn_of_build() {
    warn(warning_of_build().as_slice());
}

/// The reasons for doubt about the figures of a run, a sentence each.
pub(super) fn doubts(outcome: &Outcome, circumstances: &Circumstances) -> Vec<String> {
    let mut all: Vec<String> = warning_of_build().into_iter().collect();
    all.extend(warnings(outcome, circumstances));
    let one_line = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    all.extend(outcome.complaints.iter().map(|text| format!("a fork said: {}", one_line(text))));
    all
}

/// Prints the reasons for doubt on standard error.
pub(super) fn warn(doubts: &[String]) {
    doubts.iter().for_each(|doubt| tell(&format!("warning: {doubt}")));
}

/// The right to measure on this machine, which other commands have to wait for; `None` if `ignored`,
/// or if the system gives no lock, which a line on standard error says.
///
/// # Errors
/// Another command measures.
pub(super) fn lock(ignored: bool) -> Result<Option<Lock>, Failure> {
    if ignored {
        return Ok(None);
    }
    match Lock::take() {
        Ok(lock) => Ok(Some(lock)),
        Err(error @ LockError::Held { .. }) => Err(Failure::Failed(error.to_string())),
        Err(error @ LockError::Unknown { .. }) => {
            tell(&format!("note: {error}"));
            Ok(None)
        }
    }
}

/// The CPUs that measuring threads can use.
pub(super) struct UsableCpus {
    /// The CPUs in the order in which threads are bound to them.
    pub(super) order: Vec<usize>,
    /// The number of threads that make progress at once.
    pub(super) at_once: usize,
}

impl UsableCpus {
    pub(super) fn of(topology: &Topology) -> UsableCpus {
        let order = placement(topology.cpus());
        UsableCpus { at_once: topology.available_parallelism().min(order.len()), order }
    }
}

/// The results of a run as files hold them.
pub(super) fn report(outcome: &Outcome, circumstances: Vec<String>, doubts: &[String]) -> Report {
    let program = this_program().map_or_else(|_| "allotment".into(), |path| path.display().to_string());
    Report {
        rows: outcome.rows.clone(),
        program,
        version: env!("CARGO_PKG_VERSION").into(),
        circumstances,
        incomplete: outcome.incomplete(),
        warnings: doubts.to_vec(),
    }
}

/// The exit of a run. An interruption comes before a failure, and a failure before a closed
/// standard output. `undone` lists the other requests that could not be met, a sentence each.
pub(super) fn end(outcome: &Outcome, undone: &[String], printed: Result<(), Failure>) -> Result<(), Failure> {
    if outcome.interrupted {
        // A run that another program interrupted may have no reader of its output.
        let kept = if outcome.rows.is_empty() { "there are no results" } else { "the results are partial" };
        tell(&format!("warning: interrupted: {kept}"));
        return Err(Failure::Interrupted);
    }
    let failures: Vec<String> = outcome.failures().collect();
    let all: Vec<&String> = failures.iter().chain(undone).collect();
    let [first, others @ ..] = all.as_slice() else { return printed };
    if others.is_empty() {
        return Err(Failure::Failed((*first).clone()));
    }
    others.iter().for_each(|text| tell(&format!("failed: {text}")));
    let cases = (!failures.is_empty())
        .then(|| format!("{} of {} failed", failures.len(), count(outcome.cases(), "case")));
    let undone = (!undone.is_empty()).then(|| format!("{} could not be met", count(undone.len(), "request")));
    let sum = cases.into_iter().chain(undone).collect::<Vec<_>>().join(", and ");
    Err(Failure::Failed(format!("{first}; {sum}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::examples;

    fn code(outcome: &Outcome, undone: &[&str]) -> (&'static str, String) {
        let undone: Vec<String> = undone.iter().map(|text| text.to_string()).collect();
        match end(outcome, &undone, Ok(())) {
            Ok(()) => ("done", String::new()),
            Err(Failure::Failed(text)) => ("failed", text),
            Err(Failure::Interrupted) => ("interrupted", String::new()),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_could_not_be_done_is_a_failure_of_the_run() {
        let done = Outcome::default();
        assert_eq!(code(&done, &[]).0, "done");
        assert_eq!(code(&done, &["no JVM"]), ("failed", "no JVM".into()));
        let rows = vec![examples::row(), examples::failed_row()];
        let one = Outcome { rows, ..Outcome::default() };
        let name = "alloc.tlab (size = 64k, threads = 4, thrpt), fork 1 of 2: was killed by signal 9;";
        assert!(code(&one, &[]).1.starts_with(name), "{:?}", code(&one, &[]));
        let (ended, text) = code(&one, &["c"]);
        assert!(ended == "failed" && text.starts_with(name), "{text}");
        assert!(text.ends_with("; 1 of 2 cases failed, and 1 request could not be met"), "{text}");
        assert_eq!(code(&done, &["a", "b"]), ("failed", "a; 2 requests could not be met".into()));
        let two = Outcome { rows: vec![examples::failed_row(); 2], ..Outcome::default() };
        assert!(code(&two, &[]).1.ends_with("; 2 of 2 cases failed"));
        assert_eq!(code(&Outcome { interrupted: true, ..two }, &[]).0, "interrupted");
    }
}
