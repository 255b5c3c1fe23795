//! What every command that measures does around it: tells how long it will take, notes how noisy the machine was, and says
//! in the end what to make of the figures.

use super::Failure;
use crate::format::time::rough;
use crate::harness::{
    Case, Circumstances, Experiment, Interrupt, OnJvms, Outcome, Profiled, Run, Settings, profile, run,
    warnings,
};
use crate::machine::{Noise, placement};
use allotment::memory::topology::Topology;
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
        say(self.quiet, &format!("{} cases x {} forks, {estimate}", self.cases.len(), self.settings.forks()));
        if let on_jvms @ [_, ..] = self.on_jvms.cases.as_slice() {
            let planned =
                self.settings.jvm_estimate(on_jvms.iter().map(|case| self.cases[case.beside].jmh_mode));
            let forks = self.settings.jvm_forks();
            say(
                self.quiet,
                &format!("{} cases on JVMs x {forks} forks, about {} more", on_jvms.len(), rough(planned)),
            );
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
        say(self.quiet, &format!("profiling {} cases in a process each", self.cases.len()));
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
        // Nobody to tell is no reason not to measure.
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// What makes the figures doubtful, on standard error.
pub(super) fn warn(outcome: &Outcome, circumstances: &Circumstances) {
    for warning in warnings(outcome, circumstances) {
        let _ = writeln!(io::stderr(), "warning: {warning}");
    }
    for complaint in &outcome.complaints {
        let _ = writeln!(io::stderr(), "note: a fork said: {complaint}");
    }
}

/// The CPUs in the order in which threads are bound to them, and how many threads make progress at once.
pub(super) fn usable_cpus(topology: &Topology) -> (Vec<usize>, usize) {
    let cpus = placement(topology.cpus());
    let usable = topology.available_parallelism().min(cpus.len());
    (cpus, usable)
}

/// The exit of a run: interrupted before failed before nobody reads.
pub(super) fn end(outcome: &Outcome, printed: Result<(), Failure>) -> Result<(), Failure> {
    match outcome.failures.as_slice() {
        _ if outcome.interrupted => Err(Failure::Interrupted),
        [] => printed,
        [only] => Err(Failure::Failed(only.clone())),
        [first, rest @ ..] => Err(Failure::Failed(format!("{first} (and {} more)", rest.len()))),
    }
}
