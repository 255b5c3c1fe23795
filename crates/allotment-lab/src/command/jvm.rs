//! `--jvm`: which Java virtual machines measure too, and what is said of them below a table.

use super::Failure;
use crate::format::ScoreRow;
use crate::harness::{Case, Experiment, Interrupt, JVM, JvmCase, OnJvms, jvm_cases};
use crate::jvm::{Collector, Jars, Jdk, Jvm, Surroundings, find, find_all};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Flags that ask for Java virtual machines.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Java virtual machines")]
pub struct JvmArguments {
    /// Measure the same work on Java virtual machines: `none`, `auto` for all that are found, or JDKs by folder or program.
    #[arg(long, value_name = "WHICH,..", value_delimiter = ',', default_value = "none")]
    pub jvm: Vec<String>,

    /// Collectors: parallel, g1, serial, z, shenandoah, genshen, epsilon; each with compact headers as NAME-compact.
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', default_value = "parallel")]
    pub jvm_collector: Vec<Collector>,

    /// More flags for the JVM, separated by blanks.
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    pub jvm_args: Option<String>,
}

/// The JDKs that were asked for.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    /// None at all: nobody asked.
    asked: bool,
    jdks: Vec<Jdk>,
}

impl JvmArguments {
    /// Finds the JDKs. What is to be said of those that were found and do not run is told on standard error.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a path that is no JDK, or for words that do not go together.
    pub(super) fn choose(&self) -> Result<Chosen, Failure> {
        let words: Vec<&str> = self.jvm.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["none"] => Ok(Chosen::default()),
            ["auto"] => {
                let (jdks, told) = find_all(&Surroundings::of_process());
                told.iter().for_each(|text| note(text));
                if jdks.is_empty() {
                    note("--jvm auto found no JDK of release 17 or later: only the heap is measured");
                }
                Ok(Chosen { asked: true, jdks })
            }
            paths => {
                if let Some(word) = paths.iter().find(|word| matches!(**word, "none" | "auto")) {
                    return Err(Failure::Usage(format!("--jvm: `{word}` goes with nothing else")));
                }
                let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
                let jdks = find(&paths).map_err(|text| Failure::Usage(format!("--jvm: {text}")))?;
                Ok(Chosen { asked: true, jdks })
            }
        }
    }

    /// Asks the JDKs for their collectors, and makes the jar. What is missing is told in a line each on standard error,
    /// and the rest is measured.
    ///
    /// # Errors
    /// [`Failure::Interrupted`].
    pub(super) fn prepare(
        &self,
        chosen: &Chosen,
        experiments: &[&dyn Experiment],
        cases: &[Case],
        interrupt: &Interrupt,
    ) -> Result<OnJvms, Failure> {
        let counterpart = |case: &Case| {
            experiments.iter().any(|e| e.name() == case.experiment && e.on_jvm(case).is_some())
        };
        if chosen.jdks.is_empty() {
            return Ok(OnJvms::default());
        }
        if !cases.iter().any(counterpart) {
            note("nothing of this run has a counterpart on a JVM: see docs/jvm.md");
            return Ok(OnJvms::default());
        }
        let extra: Vec<String> = self.jvm_args.iter().flat_map(|text| text.split_whitespace()).map(String::from).collect();
        let mut jvms: Vec<Jvm> = Vec::new();
        for jdk in &chosen.jdks {
            for &collector in &self.jvm_collector {
                match Jvm::ask(jdk, collector, &extra) {
                    Ok(jvm) if jvms.contains(&jvm) => {}
                    Ok(jvm) => jvms.push(jvm),
                    Err(text) => note(&text),
                }
            }
        }
        let (cases, left_out) = jvm_cases(experiments, cases, &jvms);
        left_out.iter().for_each(|text| note(text));
        if cases.is_empty() {
            return Ok(OnJvms::default());
        }
        let building = || note("building the Java benchmarks, once");
        let jars = Jars::of(&Surroundings::of_process(), &chosen.jdks);
        match jars.get(&building, &|| interrupt.requested()) {
            Ok(jar) => Ok(OnJvms { jar, cases }),
            Err(_) if interrupt.requested() => Err(Failure::Interrupted),
            Err(error) => {
                note(&format!("{error}; only the heap is measured"));
                Ok(OnJvms::default())
            }
        }
    }
}

/// A line on standard error.
fn note(text: &str) {
    // Nobody to tell is no reason not to measure.
    let _ = writeln!(io::stderr(), "note: {}", text.split_whitespace().collect::<Vec<_>>().join(" "));
}

/// What is to be known of the JVMs among `rows`, which are one experiment's: a line for each, and one for each thing in
/// which they are not like our heap.
pub(super) fn remarks(on_jvms: &OnJvms, rows: &[ScoreRow]) -> String {
    let measured = |case: &&JvmCase| {
        let name = case.jvm.name();
        rows.iter().any(|row| row.parameters.iter().any(|p| p.name == JVM && p.value == name))
    };
    let _ = (measured, rows);
    String::new()
}
