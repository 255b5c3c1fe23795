//! The part of a report about an experiment.

use super::choose::{Scored, charts, latency_charts};
use super::command_line::commands;
use super::jvm;
use super::table;
use crate::format::coordinates::value;
use crate::format::json::{INCOMPLETE, JVM_HEAPS};
use crate::format::{Comparison, Entry, Origin, ScoreRow, distinct};
use crate::harness::neighbours::{self, NEIGHBOURS};
use crate::harness::{Baseline, Charts, Experiment, JVM, compare};
use allotment_report::page::Section;

/// The section of an experiment's rows, or of a foreign class.
pub(super) fn section(name: &str, experiment: Option<&Experiment>, entries: &[&Entry]) -> Section {
    let rows: Vec<ScoreRow> = entries.iter().map(|entry| entry.row.clone()).collect();
    let baseline = experiment.and_then(|experiment| experiment.baseline());
    let comparison = match &baseline {
        Some(baseline) => compare(&rows, baseline),
        None => Comparison { baseline: String::new(), ratios: vec![None; rows.len()] },
    };
    let pairs = rows.iter().zip(&comparison.ratios);
    let scored: Vec<Scored<'_>> = pairs.map(|(row, ratio)| scored(row, *ratio)).collect();
    let drawn: Vec<Scored<'_>> = scored.iter().copied().filter(|one| one.row.is_measured()).collect();
    let wanted = experiment.map_or(Charts::default(), |experiment| experiment.charts);
    let origins = distinct(entries.iter().map(|entry| &entry.origin));
    let of_run = |origin: &&Origin| Some(format!("a run is incomplete: {}", origin.fact(INCOMPLETE)?));
    let mut incomplete: Vec<String> = origins.iter().filter_map(of_run).collect();
    incomplete.extend(rows.iter().filter_map(ScoreRow::failure_text).map(|text| format!("failed: {text}")));
    let lacking = rows.iter().filter(|row| row.missing > 0 && row.is_measured());
    incomplete.extend(lacking.map(ScoreRow::missing_text));
    let mut notes: Vec<String> = Vec::new();
    if rows.iter().any(|row| value(row, JVM).is_some()) {
        notes.extend(origins.iter().filter_map(|origin| origin.fact(JVM_HEAPS)).map(String::from));
        notes.dedup();
    }
    let said = experiment.map(|one| verdicts(one, &rows)).unwrap_or_default();
    Section {
        name: name.into(),
        question: experiment.map(|experiment| experiment.question.into()),
        answers: said.answers,
        verdicts: said.details,
        groups: match experiment.map_or(&[][..], |experiment| experiment.latencies) {
            [] => charts(&drawn, wanted, baseline.as_ref()),
            latencies => latency_charts(&drawn, latencies, baseline.as_ref()),
        },
        table: table::scores(&scored, baseline.as_ref().map(|_| comparison.baseline.as_str())),
        metrics: table::metrics(&scored),
        commands: experiment.map(|one| commands(one, entries)).unwrap_or_default(),
        origins: origins.iter().map(|origin| origin.on_page()).collect(),
        incomplete,
        notes,
    }
}

fn scored(row: &ScoreRow, ratio: Option<crate::statistics::Ratio>) -> Scored<'_> {
    Scored { row, score: row.primary.score(), error: row.primary.error(), ratio }
}

/// The findings of an experiment's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// The answer to the experiment's question, a sentence for each part of the question. Without an
    /// answer it is the reason.
    pub answers: Vec<String>,
    /// Further findings, a sentence each.
    pub details: Vec<String>,
}

/// The findings of an experiment's rows. For rows measured beside neighbours, the answer is the effect of
/// the neighbours. With rows of a JVM, the answer compares with the JVM. Rows without a score are
/// left out.
pub fn verdicts(experiment: &Experiment, rows: &[ScoreRow]) -> Verdicts {
    let rows: Vec<ScoreRow> = rows.iter().filter(|row| row.is_measured()).cloned().collect();
    let rows = &rows[..];
    let has_company = |row: &ScoreRow| row.parameters.iter().any(|parameter| parameter.name == NEIGHBOURS);
    if rows.iter().any(has_company) {
        let alone = compare(rows, &Baseline::axis(NEIGHBOURS, neighbours::NONE));
        return Verdicts { answers: neighbours::verdicts(rows, &alone), details: Vec::new() };
    }
    let mut answers = (experiment.answers)(rows);
    answers.extend(jvm::answers(rows, experiment.latencies));
    if answers.is_empty() {
        answers.push(format!("No answer without {}.", experiment.needs));
    }
    let mut details = (experiment.verdicts)(rows);
    details.retain(|detail| !answers.contains(detail));
    Verdicts { answers, details }
}
