//! The frame of every measuring command: sees that no other one measures, prints the estimated time,
//! records how noisy the machine was, and says at the end how far the figures can be trusted.

use super::Failure;
use crate::format::phrase::count;
use crate::format::time::rough;
use crate::format::{printable, width};
use crate::harness::{
    Case, Circumstances, Estimate, Experiment, Interrupt, Lock, LockError, OnJvms, Outcome, Profiled, Run,
    Settings, case_name, profile, run, warnings,
};
use crate::machine::{Noise, placement};
use allotment::internals::platform::Topology;
use anyhow::Context;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The cases to measure, and the settings.
pub(super) struct Measuring<'a> {
    pub(super) experiments: &'a [&'a Experiment],
    pub(super) cases: &'a [Case],
    /// The JVM cases beside them.
    pub(super) on_jvms: &'a OnJvms,
    pub(super) settings: &'a Settings,
    /// How long a fork may stay silent, besides the time of an iteration.
    pub(super) timeout: Duration,
    /// The CPUs in the order in which threads are bound to them, and the number of threads that
    /// make progress at once.
    pub(super) cpus: &'a (Vec<usize>, usize),
    /// Neither progress nor estimates.
    pub(super) quiet: bool,
    pub(super) interrupt: &'a Interrupt,
}

impl Measuring<'_> {
    /// Measures the cases.
    ///
    /// # Errors
    /// The program's own file is not found.
    pub(super) fn measure(&self) -> Result<(Outcome, Circumstances), Failure> {
        let (_, usable) = self.cpus;
        say(self.quiet, &self.planned());
        let before = Noise::read(Path::new("/"));
        let start = Instant::now();
        let outcome = run(&self.run()?);
        say(self.quiet, &format!("measuring took {}", rough(start.elapsed())));
        Ok((outcome, Circumstances { before, after: Noise::read(Path::new("/")), cpus: *usable }))
    }

    /// What is going to be measured, and about how long that takes, in a sentence.
    pub(super) fn planned(&self) -> String {
        let on_jvms = &self.on_jvms.cases;
        let of = |cases: usize, forks: u32| {
            format!("{} x {}", count(cases, "case"), count(forks as usize, "fork"))
        };
        let mut planned = of(self.cases.len(), self.settings.forks());
        if !on_jvms.is_empty() {
            planned += &format!(" and {} on JVMs", of(on_jvms.len(), self.settings.jvm_forks()));
        }
        let estimate = Estimate::of_run(self.cases, on_jvms, self.settings, self.experiments);
        format!("{planned}, {}", estimate.describe())
    }

    /// Each case with what its forks are going to take, a line each, and then the whole.
    pub(super) fn plan(&self) -> String {
        let mut text = String::new();
        let mut line = |name: String, forks: u32, estimate: Estimate| {
            let _ = writeln!(text, "{name}: {}, {}", count(forks as usize, "fork"), estimate.describe());
        };
        for (index, case) in self.cases.iter().enumerate() {
            let estimate = Estimate::of_case(case, self.settings, self.experiments);
            line(case_name(case, self.experiments, None), self.settings.forks(), estimate);
            for on_jvm in self.on_jvms.cases.iter().filter(|on_jvm| on_jvm.beside == index) {
                let estimate = Estimate::of_jvm_case(on_jvm, self.cases, self.settings, self.experiments);
                line(case_name(case, self.experiments, Some(on_jvm)), self.settings.jvm_forks(), estimate);
            }
        }
        text + &self.planned() + "\n"
    }

    /// Profiles the same cases.
    ///
    /// # Errors
    /// The program's own file is not found.
    pub(super) fn profile(&self) -> Result<Vec<Profiled>, Failure> {
        say(self.quiet, &format!("profiling {} in a process each", count(self.cases.len(), "case")));
        Ok(profile(&self.run()?))
    }

    fn run(&self) -> Result<Run<'_>, Failure> {
        Ok(Run {
            program: std::env::current_exe().context("cannot find this program's own file")?,
            experiments: self.experiments,
            cases: self.cases,
            on_jvms: self.on_jvms,
            settings: self.settings,
            timeout: self.timeout,
            cpus: &self.cpus.0,
            quiet: self.quiet,
            interrupt: self.interrupt,
        })
    }
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

/// The CPUs in the order in which threads are bound to them, and the number of threads that make
/// progress at once.
pub(super) fn usable_cpus(topology: &Topology) -> (Vec<usize>, usize) {
    let cpus = placement(topology.cpus());
    let usable = topology.available_parallelism().min(cpus.len());
    (cpus, usable)
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
