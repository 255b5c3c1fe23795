//! The frame of every measuring command: prints the estimated time, records how noisy the machine
//! was, and says at the end how far the figures can be trusted.

use super::Failure;
use crate::format::phrase::count;
use crate::format::time::rough;
use crate::format::{printable, width};
use crate::harness::{
    Case, Circumstances, Experiment, Interrupt, JvmCase, OnJvms, Outcome, Profiled, Run, Settings, profile,
    run, warnings,
};
use crate::machine::{Noise, placement};
use allotment::platform::topology::Topology;
use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// The cases to measure, and the settings.
pub(super) struct Measuring<'a> {
    pub(super) experiments: &'a [&'a dyn Experiment],
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
        let estimate = self.settings.describe_estimate(self.cases.iter().map(|case| case.jmh_mode));
        let (cases, forks) = (count(self.cases.len(), "case"), count(self.settings.forks() as usize, "fork"));
        say(self.quiet, &format!("{cases} x {forks}, {estimate}"));
        if let on_jvms @ [_, ..] = self.on_jvms.cases.as_slice() {
            let plan = |case: &JvmCase| case.plan(self.settings, self.cases[case.beside].jmh_mode);
            let planned = self.settings.jvm_estimate(on_jvms.iter().map(plan));
            let forks = count(self.settings.jvm_forks() as usize, "fork");
            let cases = count(on_jvms.len(), "case");
            say(self.quiet, &format!("{cases} on JVMs x {forks}, about {} more", rough(planned)));
        }
        let before = Noise::read(Path::new("/"));
        let start = Instant::now();
        let outcome = run(&self.run()?);
        say(self.quiet, &format!("measuring took {}", rough(start.elapsed())));
        Ok((outcome, Circumstances { before, after: Noise::read(Path::new("/")), cpus: *usable }))
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

/// Warns if the lab was built without optimisation: its loops and the heap are then slower than in
/// users' builds.
pub(super) fn warn_of_build() {
    if cfg!(debug_assertions) {
        tell(
            "warning: this is a debug build, whose figures say nothing; build it with cargo build --release",
        );
    }
}

/// Prints the reasons for doubt about the figures on standard error.
pub(super) fn warn(outcome: &Outcome, circumstances: &Circumstances) {
    warn_of_build();
    for warning in warnings(outcome, circumstances) {
        tell(&format!("warning: {warning}"));
    }
    for complaint in &outcome.complaints {
        tell(&format!("note: a fork said: {complaint}"));
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
    let all: Vec<&String> = outcome.failures.iter().chain(&outcome.jvm_failures).chain(undone).collect();
    match all.as_slice() {
        [] => printed,
        [only] => Err(Failure::Failed((*only).clone())),
        [first, rest @ ..] => Err(Failure::Failed(format!("{first} (and {} more)", rest.len()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let told = |text: &str| vec![text.to_string()];
        let done = Outcome::default();
        assert_eq!(code(&done, &[]).0, "done");
        assert_eq!(code(&done, &["no JVM"]), ("failed", "no JVM".into()));
        let on_jvm = Outcome { jvm_failures: told("b on a JVM"), ..Outcome::default() };
        assert_eq!(code(&on_jvm, &[]), ("failed", "b on a JVM".into()));
        let both = Outcome { failures: told("a"), ..on_jvm };
        assert_eq!(code(&both, &["c"]), ("failed", "a (and 2 more)".into()));
        assert_eq!(code(&Outcome { interrupted: true, ..both }, &[]).0, "interrupted");
    }
}
