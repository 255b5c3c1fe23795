//! The part of a report about an experiment.

use super::chart::choose::{Group, Scored, charts};
use super::command_line::commands;
use super::jvm;
use super::table::{self, Table};
use crate::format::coordinates::value;
use crate::format::json::{INCOMPLETE, JVM_HEAPS};
use crate::format::{Comparison, Entry, Origin, ScoreRow};
use crate::harness::neighbours::{self, NEIGHBOURS};
use crate::harness::{Baseline, Charts, Experiment, JVM, compare};

/// A part of a report.
#[derive(Clone, Debug)]
pub struct Section {
    /// The experiment, or the class of foreign benchmarks.
    pub name: String,
    /// The experiment's question; `None` for foreign benchmarks.
    pub question: Option<String>,
    /// The verdicts on its rows, a sentence each.
    pub verdicts: Vec<String>,
    /// Its charts.
    pub groups: Vec<Group>,
    /// Its scores.
    pub table: Table,
    /// All other counts.
    pub metrics: Option<Table>,
    /// The commands that repeat the measurement; several where rows were measured in several ways.
    pub commands: Vec<String>,
    /// The programs that measured it.
    pub origins: Vec<Origin>,
    /// Runs with missing parts, cases that failed, and rows with missing iterations.
    pub incomplete: Vec<String>,
    /// What to know when rows of JVMs are read.
    pub notes: Vec<String>,
}

impl Section {
    /// The section of an experiment's rows, or of a foreign class.
    pub(super) fn of(name: &str, experiment: Option<&dyn Experiment>, entries: &[&Entry]) -> Section {
        let rows: Vec<ScoreRow> = entries.iter().map(|entry| entry.row.clone()).collect();
        let baseline = experiment.and_then(|experiment| experiment.baseline());
        let comparison = match &baseline {
            Some(baseline) => compare(&rows, baseline),
            None => Comparison { baseline: String::new(), ratios: vec![None; rows.len()] },
        };
        let pairs = rows.iter().zip(&comparison.ratios);
        let scored: Vec<Scored<'_>> = pairs.map(|(row, ratio)| scored(row, *ratio)).collect();
        let drawn: Vec<Scored<'_>> = scored.iter().copied().filter(|one| one.row.is_measured()).collect();
        let wanted = experiment.map_or(Charts::default(), |experiment| experiment.charts());
        let mut origins: Vec<Origin> = Vec::new();
        for entry in entries {
            if !origins.contains(&entry.origin) {
                origins.push(entry.origin.clone());
            }
        }
        let of_run = |origin: &Origin| Some(format!("a run is incomplete: {}", origin.fact(INCOMPLETE)?));
        let mut incomplete: Vec<String> = origins.iter().filter_map(of_run).collect();
        incomplete
            .extend(rows.iter().filter_map(ScoreRow::failure_text).map(|text| format!("failed: {text}")));
        let lacking = rows.iter().filter(|row| row.missing > 0 && row.is_measured());
        incomplete.extend(lacking.map(ScoreRow::missing_text));
        let mut notes: Vec<String> = Vec::new();
        if rows.iter().any(|row| value(row, JVM).is_some()) {
            notes.extend(origins.iter().filter_map(|origin| origin.fact(JVM_HEAPS)).map(String::from));
            notes.dedup();
        }
        Section {
            name: name.into(),
            question: experiment.map(|experiment| experiment.question().into()),
            verdicts: experiment.map(|one| verdicts(one, &rows, &comparison)).unwrap_or_default(),
            groups: charts(&drawn, wanted, baseline.as_ref()),
            table: table::scores(&scored, baseline.as_ref().map(|_| comparison.baseline.as_str())),
            metrics: table::metrics(&scored),
            commands: experiment.map(|one| commands(one, entries)).unwrap_or_default(),
            origins,
            incomplete,
            notes,
        }
    }
}

fn scored(row: &ScoreRow, ratio: Option<crate::statistics::Ratio>) -> Scored<'_> {
    Scored { row, score: row.primary.score(), error: row.primary.error(), ratio }
}

/// An experiment's verdicts on its rows, and the comparison with a JVM's rows if there are any. For
/// rows measured beside neighbours, the verdict is the effect of the neighbours. Rows without a score
/// are left out.
pub fn verdicts(experiment: &dyn Experiment, rows: &[ScoreRow], comparison: &Comparison) -> Vec<String> {
    let measured = rows.iter().zip(&comparison.ratios).filter(|(row, _)| row.is_measured());
    let (rows, ratios): (Vec<ScoreRow>, Vec<_>) = measured.map(|(row, ratio)| (row.clone(), *ratio)).unzip();
    let (rows, comparison) = (&rows[..], &Comparison { ratios, ..comparison.clone() });
    if rows.is_empty() {
        return Vec::new();
    }
    let has_company = |row: &ScoreRow| row.parameters.iter().any(|parameter| parameter.name == NEIGHBOURS);
    if rows.iter().any(has_company) {
        return neighbours::verdicts(rows, &compare(rows, &Baseline::axis(NEIGHBOURS, neighbours::NONE)));
    }
    let mut all = experiment.verdicts(rows, comparison);
    all.extend(jvm::verdicts(rows));
    all
}
