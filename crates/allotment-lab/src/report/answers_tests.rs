//! Tests of the answers of all experiments, with the rows of a quick run.

use super::verdicts;
use crate::experiments::all;
use crate::format::{Combine, Parameter, ScoreRow, examples};
use crate::harness::{Case, Experiment, Selection, expand_on, label};
use crate::machine::processors::ZEN;

/// Rows of the cases of a quick run, with values that were never measured.
fn quick_rows(experiment: &Experiment) -> Vec<ScoreRow> {
    let selection = Selection { quick: true, ..Selection::default() };
    let (cases, _) = expand_on(&[experiment], &selection, 2, ZEN).unwrap();
    let metric = |(index, (label, unit)): (usize, &(&str, &str))| {
        examples::metric(label, unit, Combine::Average, &[&[1.0 + index as f64]])
    };
    let metrics = [
        ("first.p50", "us"),
        ("first.p99", "us"),
        ("first.over-1ms", "threads"),
        ("op.max", "us"),
        ("preparation.p50", "us"),
        ("preparation.p100", "us"),
        ("hits", "%"),
        ("sample", "ns"),
        ("error.bytes", "%"),
        ("pause.max", "ms"),
    ];
    let row = |(index, case): (usize, &Case)| {
        let score = 1.0 + index as f64;
        let parameter = |(name, value): &(String, String)| Parameter {
            name: name.clone(),
            value: value.clone(),
            label: label(experiment.axes, name, value),
        };
        let unit = case.unit.of_score(case.jmh_mode);
        let values = [score, score * 1.001, score * 0.999];
        ScoreRow {
            benchmark: case.benchmark(),
            jmh_mode: case.jmh_mode.to_string(),
            threads: case.threads,
            parameters: case.params.iter().map(parameter).collect(),
            primary: examples::metric("", &unit, Combine::Average, &[&values]),
            secondary: metrics.iter().enumerate().map(metric).collect(),
            ..examples::row()
        }
    };
    cases.iter().enumerate().map(row).collect()
}

#[test]
fn every_experiment_answers_its_question_or_says_which_rows_would() {
    for experiment in all() {
        let (name, rows) = (experiment.name, quick_rows(experiment));
        let said = verdicts(experiment, &rows);
        assert!(!said.answers.is_empty() && !said.answers[0].starts_with("No answer"), "{name}: {said:?}");
        let modes: Vec<&str> = experiment.modes.iter().map(|mode| mode.name).collect();
        for sentence in said.answers.iter().chain(&said.details) {
            let lower = sentence.to_lowercase();
            assert!(modes.iter().any(|mode| lower.contains(mode)), "{name} names no mode: {sentence}");
            let flaws = ["NaN", "  ", "..", " with with ", " of with "];
            assert!(!flaws.iter().any(|flaw| sentence.contains(flaw)), "{name}: {sentence}");
        }
        assert!(said.answers.iter().all(|answer| answer.ends_with('.')), "{name}: {said:?}");
        assert!(!said.details.iter().any(|detail| said.answers.contains(detail)), "{name}: {said:?}");
        let none = verdicts(experiment, &[]);
        assert_eq!(none.answers, [format!("No answer without {}.", experiment.needs)], "{name}");
        assert_ne!(experiment.needs, "rows to compare", "{name} has no reason of its own");
    }
}
