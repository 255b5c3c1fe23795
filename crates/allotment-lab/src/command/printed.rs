//! The output of a run on standard output: the settings, a table per experiment, the missing rows,
//! and the answers, which come last.

use super::jvm;
use crate::format::{Report, ScoreRow, text_table, width};
use crate::harness::{Baseline, Experiment, OnJvms, Outcome, compare};
use crate::report::verdicts;
use std::fmt::Write;

/// The content of a run's output.
pub(super) struct Printed<'a> {
    /// All rows.
    pub(super) report: &'a Report,
    /// The experiments, in the order of their tables.
    pub(super) experiments: &'a [&'a Experiment],
    /// For each experiment its baseline.
    pub(super) baselines: &'a [Option<Baseline>],
    /// The settings, a line per JMH mode.
    pub(super) settings: &'a [String],
    /// The missing rows, and the reasons.
    pub(super) outcome: &'a Outcome,
    /// The JVMs among the rows.
    pub(super) on_jvms: &'a OnJvms,
}

/// The tables, and the answers to the experiments' questions. With several experiments an answer
/// begins with the name of its own.
pub(super) fn tables(printed: &Printed<'_>) -> (String, Vec<String>) {
    let (mut text, mut answers) = (String::new(), Vec::new());
    let names: Vec<&str> = printed.experiments.iter().map(|experiment| experiment.name).collect();
    for line in printed.settings {
        let _ = writeln!(text, "# {line}");
    }
    for (experiment, baseline) in printed.experiments.iter().zip(printed.baselines) {
        let prefix = format!("{}.", experiment.name);
        let is_own = |row: &&ScoreRow| row.benchmark.starts_with(&prefix);
        let rows: Vec<ScoreRow> = printed.report.rows.iter().filter(is_own).cloned().collect();
        if rows.is_empty() {
            continue;
        }
        let comparison = baseline.as_ref().map(|baseline| compare(&rows, baseline));
        let comparison = comparison.filter(|found| found.ratios.iter().any(Option::is_some));
        let _ = writeln!(text, "\n{}\n", width::lines(experiment.question, width::of_output()));
        let said = verdicts(experiment, &rows);
        let wide = width::of_output();
        text += &text_table(&Report { rows, ..printed.report.clone() }, comparison.as_ref(), wide);
        for detail in said.details {
            let _ = writeln!(text, "{}", width::lines(&detail, width::of_sentences(wide)));
        }
        let name = if names.len() > 1 { format!("{}: ", experiment.name) } else { String::new() };
        answers.extend(said.answers.iter().map(|answer| format!("{name}{answer}")));
        text += &jvm::remarks(printed.on_jvms, experiment.name);
    }
    let incomplete: Vec<&ScoreRow> =
        printed.report.rows.iter().filter(|row| row.missing > 0 && row.is_measured()).collect();
    let outcome = printed.outcome;
    let failures: Vec<String> = outcome.failures().collect();
    if outcome.interrupted || [incomplete.len(), outcome.unmeasured.len(), failures.len()] != [0; 3] {
        text.push('\n');
    }
    if outcome.interrupted && printed.report.rows.is_empty() {
        text += "interrupted: no results, and no file is written\n";
    } else if outcome.interrupted {
        text += "interrupted: partial results\n";
    }
    for row in incomplete {
        let _ = writeln!(text, "* {}", row.missing_text());
    }
    for name in &outcome.unmeasured {
        let _ = writeln!(text, "not measured: {name}");
    }
    for failure in &failures {
        let _ = writeln!(text, "failed: {failure}");
    }
    (text, answers)
}
