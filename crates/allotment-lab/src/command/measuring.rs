//! What every command that measures does around it: tells how long it will take, notes how noisy the machine was, and says
//! in the end what to make of the figures.

use super::Failure;
use crate::format::phrase::count;
use crate::format::time::rough;
use crate::format::{printable, width};
use crate::harness::{
    Case, Circumstances, Experiment, Interrupt, OnJvms, Outcome, Profiled, Run, Settings, profile, run,
    warnings,
};
use crate::machine::{Noise, placement};
use allotment::platform::topology::Topology;
use anyhow::Context;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is measured, and how.
pub(super) struct Measuring<'a> {
    pub(super) experiments: &'a [&'a dyn Experiment],
    pub(super) cases: &'a [Case],
    /// What JVMs measure beside them.
    pub(super) on_jvms: &'a OnJvms,
    pub(super) settings: &'a Settings,
    /// How long a fork may say nothing, besides the time of an iteration.
    pub(super) timeout: Duration,
    /// The CPUs in the order in which threads are bound to them, and how many threads make progress at once.
    pub(super) cpus: &'a (Vec<usize>, usize),
    /// Neither progress nor estimates.
    pub(super) quiet: bool,
    pub(super) interrupt: &'a Interrupt,
}

impl Measuring<'_> {
    /// Measures.
    ///
    /// # Errors
    /// The program's own file is not found.
    pub(super) fn measure(&self) -> Result<(Outcome, Circumstances), Failure> {
        let (_, usable) = self.cpus;
        let estimate = self.settings.describe_estimate(self.cases.iter().map(|case| case.jmh_mode));
        let (cases, forks) = (count(self.cases.len(), "case"), count(self.settings.forks() as usize, "fork"));
        say(self.quiet, &format!("{cases} x {forks}, {estimate}"));
        if let on_jvms @ [_, ..] = self.on_jvms.cases.as_slice() {
            let planned =
                self.settings.jvm_estimate(on_jvms.iter().map(|case| self.cases[case.beside].jmh_mode));
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

/// Tells on standard error, unless nothing is to be told.
pub(super) fn say(quiet: bool, text: &str) {
    if !quiet {
        tell(text);
    }
}

/// A line on standard error, in several where a terminal is narrow.
pub(super) fn tell(text: &str) {
    // Nobody to tell is no reason not to measure.
    let _ =
        writeln!(io::stderr(), "{}", width::lines(&printable(text), width::of_sentences(width::of_errors())));
}

/// Says that the lab was built without optimisation, if it was: its loops and the heap are slower than what users embed.
pub(super) fn warn_of_build() {
    if cfg!(debug_assertions) {
        tell(
            "warning: this is a debug build, whose figures say nothing; build it with cargo build --release",
        );
    }
}

/// What makes the figures doubtful, on standard error.
pub(super) fn warn(outcome: &Outcome, circumstances: &Circumstances) {
    warn_of_build();
    for warning in warnings(outcome, circumstances) {
        tell(&format!("warning: {warning}"));
    }
    for complaint in &outcome.complaints {
        tell(&format!("note: a fork said: {complaint}"));
    }
}

/// The CPUs in the order in which threads are bound to them, and how many threads make progress at once.
pub(super) fn usable_cpus(topology: &Topology) -> (Vec<usize>, usize) {
    let cpus = placement(topology.cpus());
    let usable = topology.available_parallelism().min(cpus.len());
    (cpus, usable)
}

/// The exit of a run: interrupted before failed before nobody reads. `undone` is what else was asked for and could not be
/// done, a sentence each.
pub(super) fn end(outcome: &Outcome, undone: &[String], printed: Result<(), Failure>) -> Result<(), Failure> {
    if outcome.interrupted {
        // Of a run that somebody else has ended, nobody may look at what is printed.
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
