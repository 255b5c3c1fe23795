//! Sentences about rows: one value against another at equal coordinates, as the numbers and their
//! errors allow.
//!
//! Every verdict of an experiment is made with these functions, so that all read alike. Rows
//! measured on a JVM are excluded; one place compares them for all experiments.

use crate::format::answer::{Compared, scores, sentence, speeds};
use crate::format::coordinates::{MODE, THREADS, mode, value, varying};
use crate::format::phrase::{Better, count, nanoseconds_of, range, ratios, time};
use crate::format::{Metric, ScoreRow};
use crate::harness::{Baseline, JVM, compare};
use crate::statistics::Ratio;

/// The rows that were measured here.
pub(super) fn ours(rows: &[ScoreRow]) -> Vec<ScoreRow> {
    rows.iter().filter(|row| value(row, JVM).is_none()).cloned().collect()
}

/// The rows of one mode.
pub(super) fn of_mode(rows: &[ScoreRow], name: &str) -> Vec<ScoreRow> {
    rows.iter().filter(|row| mode(row) == name).cloned().collect()
}

/// A secondary metric of a row.
pub(super) fn metric<'r>(row: &'r ScoreRow, label: &str) -> Option<&'r Metric> {
    row.secondary.iter().find(|metric| metric.label == label)
}

/// A secondary metric that is a time, in words: `3.2 ms`.
pub(super) fn time_of(row: &ScoreRow, label: &str) -> Option<String> {
    let metric = metric(row, label)?;
    Some(time(metric.score() * nanoseconds_of(&metric.unit)?))
}

/// Distinct values of a coordinate with their labels, in the order of their first appearance.
pub(super) fn values(rows: &[ScoreRow], coordinate: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for value in rows.iter().filter_map(|row| value(row, coordinate)) {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Ratios of rows that belong together.
struct Part {
    /// Label of the value of `by`; empty where rows lack it.
    at: String,
    unit: String,
    better: Better,
    ratios: Vec<Ratio>,
}

/// The ratios of rows with the value `one` of a coordinate over rows that have `other` and agree in
/// all else, for each value of `by`.
fn parts(rows: &[ScoreRow], coordinate: &str, one: &str, other: &str, by: &str) -> Vec<Part> {
    let comparison = compare(rows, &Baseline::axis(coordinate, other));
    let mut parts: Vec<Part> = Vec::new();
    for (row, ratio) in rows.iter().zip(&comparison.ratios) {
        let is_one = value(row, coordinate).is_some_and(|(value, _)| value == one);
        let Some(ratio) = ratio.filter(|_| is_one) else { continue };
        let at = value(row, by).map_or(String::new(), |(_, label)| worded(by, &label));
        let unit = row.primary.unit.as_str();
        match parts.iter_mut().find(|known| known.at == at && known.unit == unit) {
            Some(part) => part.ratios.push(ratio),
            None => {
                let (better, unit) = (Better::of(unit), unit.to_string());
                parts.push(Part { at, unit, better, ratios: vec![ratio] });
            }
        }
    }
    parts
}

/// The speeds of a mode's rows with the value `one` of a coordinate over those of rows that have
/// `other` and agree in all else: more than 1 is faster.
pub(super) fn speeds_of(
    rows: &[ScoreRow],
    name: &str,
    coordinate: &str,
    one: &str,
    other: &str,
) -> Vec<Ratio> {
    let parts = parts(&of_mode(rows, name), coordinate, one, other, "");
    parts.iter().flat_map(|part| speeds(&part.ratios, part.better)).collect()
}

/// A value of a coordinate in words.
fn named(rows: &[ScoreRow], coordinate: &str, wanted: &str) -> String {
    let label = values(rows, coordinate).into_iter().find(|(value, _)| value == wanted);
    label.map_or(String::new(), |(_, label)| worded(coordinate, &label))
}

/// `tlab against cas, 1 thread: 2.90 to 6.41 times as fast; 2 threads: ...`: compares rows with the
/// value `one` of a coordinate with rows that have `other` and agree in all else, for each value of
/// `by`. `None` without two such rows.
pub(super) fn contrast(
    rows: &[ScoreRow],
    coordinate: &str,
    one: &str,
    other: &str,
    by: &str,
) -> Option<String> {
    let parts = parts(rows, coordinate, one, other, by);
    let several = parts.len() > 1;
    let said = |part: &Part| {
        let said = ratios(&part.ratios, part.better);
        if several && !part.at.is_empty() { format!("{}: {said}", part.at) } else { said }
    };
    let all: Vec<String> = parts.iter().map(said).collect();
    let names = format!("{} against {}", named(rows, coordinate, one), named(rows, coordinate, other));
    let colon = if several { "," } else { ":" };
    (!all.is_empty()).then(|| format!("{names}{colon} {}.", all.join("; ")))
}

/// [`contrast`] of each other value of a coordinate with one, for each mode alone, which is named.
pub(super) fn all_against(rows: &[ScoreRow], coordinate: &str, other: &str, by: &str) -> Vec<String> {
    let mut said = Vec::new();
    for (name, _) in values(rows, MODE) {
        let own = of_mode(rows, &name);
        for (one, _) in values(&own, coordinate).iter().filter(|(value, _)| value != other) {
            let sentence = contrast(&own, coordinate, one, other, by);
            said.extend(sentence.map(|sentence| format!("{name}: {sentence}")));
        }
    }
    said
}

/// `With 1 thread tlab is 4.51 ± 0.31 times as fast as cas; with 2 threads ...`: an answer that
/// compares two modes, for each value of `by`. The names describe the modes.
pub(super) fn answer(
    rows: &[ScoreRow],
    (one, name): (&str, &str),
    (other, other_name): (&str, &str),
    by: &str,
) -> Option<String> {
    let parts = parts(rows, MODE, one, other, by);
    let several = parts.len() > 1;
    let clauses = parts.into_iter().enumerate().map(|(index, part)| Compared {
        subject: name.into(),
        other: if index == 0 { other_name.into() } else { String::new() },
        at: if several && !part.at.is_empty() { with(&part.at) } else { String::new() },
        speeds: speeds(&part.ratios, part.better),
    });
    said(clauses.collect())
}

/// `With parallel build is 3.20 ± 0.10 times as fast as build with mark-compact; with genshen ...`: an
/// answer that compares each value of a coordinate with one, for a mode.
pub(super) fn spread(rows: &[ScoreRow], name: &str, coordinate: &str, other: &str) -> Option<String> {
    let own = of_mode(rows, name);
    let base = format!("{name} {}", with(&named(&own, coordinate, other)));
    let mut clauses: Vec<Compared> = Vec::new();
    for (one, _) in values(&own, coordinate).iter().filter(|(value, _)| value != other) {
        let at = with(&named(&own, coordinate, one));
        for part in parts(&own, coordinate, one, other, "") {
            clauses.push(Compared {
                subject: name.into(),
                other: if clauses.is_empty() { base.clone() } else { String::new() },
                at: at.clone(),
                speeds: speeds(&part.ratios, part.better),
            });
        }
    }
    said(clauses)
}

fn said(clauses: Vec<Compared>) -> Option<String> {
    Some(sentence(&clauses)).filter(|text| !text.is_empty())
}

/// `with 2 threads`
fn with(value: &str) -> String {
    format!("with {value}")
}

/// `build takes 85.2 ± 3.1 ms with 1 thread; 110 ± 4 ms with 2 threads`: an answer that says the
/// scores of a mode, for each value of `by`. Without an end, so that more can follow.
pub(super) fn takes(rows: &[ScoreRow], name: &str, by: &str) -> Option<String> {
    let own = of_mode(rows, name);
    let unit = own.first()?.primary.unit.clone();
    let own: Vec<ScoreRow> = own.into_iter().filter(|row| row.primary.unit == unit).collect();
    let found = values(&own, by);
    let mut said: Vec<String> = Vec::new();
    for (one, label) in &found {
        let of: Vec<&ScoreRow> =
            own.iter().filter(|row| value(row, by).is_some_and(|(value, _)| value == *one)).collect();
        let at = if found.len() > 1 { format!(" {}", with(&worded(by, label))) } else { String::new() };
        said.push(scores(&of) + &at);
    }
    let verb = if Better::of(&unit) == Better::Higher { "does" } else { "takes" };
    (!said.is_empty()).then(|| format!("{name} {verb} {}", said.join("; ")))
}

/// The speed of a mode with the most threads against the fewest.
pub(super) fn scaling(rows: &[ScoreRow], name: &str) -> Option<String> {
    let own = of_mode(rows, name);
    let numbers = own.iter().map(|row| row.threads);
    let (fewest, most) = (numbers.clone().min()?, numbers.max()?);
    let sentence = contrast(&own, THREADS, &most.to_string(), &fewest.to_string(), "mode")?;
    Some(format!("{name}, {sentence}"))
}

/// The coordinates of a row in which rows differ, except `without`: `1 thread, pretouch on`.
pub(super) fn place(row: &ScoreRow, rows: &[ScoreRow], without: &[&str]) -> String {
    let all: Vec<&ScoreRow> = rows.iter().collect();
    let part = |name: &str| value(row, name).map(|(_, label)| worded(name, &label));
    let names = varying(&all).into_iter().map(|one| one.name);
    let parts: Vec<String> =
        names.filter(|name| !without.contains(&name.as_str())).filter_map(|name| part(&name)).collect();
    parts.join(", ")
}

/// The mode of a row, and the other coordinates in which rows differ: `build, 1 thread`.
pub(super) fn whose(row: &ScoreRow, rows: &[ScoreRow]) -> String {
    format!("{}{}", mode(row), after(", ", &place(row, rows, &[MODE])))
}

/// A text after `before`; empty without a text.
pub(super) fn after(before: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{before}{text}") }
}

/// The smallest and the largest score of a secondary metric, if a row has it.
pub(super) fn range_of(rows: &[ScoreRow], label: &str) -> Option<(f64, f64)> {
    let found = range(rows.iter().filter_map(|row| metric(row, label)).map(Metric::score));
    found.1.is_finite().then_some(found)
}

/// `4 threads`, of the number as text.
pub(super) fn threads(number: &str) -> String {
    number.parse().map_or_else(|_| format!("{number} threads"), |number| count(number, "thread"))
}

/// A value with its coordinate in words: `4 threads`, `heap 128m`. A mode needs no further word.
fn worded(coordinate: &str, label: &str) -> String {
    match (coordinate, label) {
        (THREADS, number) => threads(number),
        ("mode" | "collector" | "way" | "set" | "cc", label) => label.into(),
        (name, label) => format!("{name} {label}"),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    /// A row with three values that differ by a thousandth.
    pub(crate) fn row(
        benchmark: &str,
        threads: usize,
        params: &[(&str, &str)],
        unit: &str,
        score: f64,
    ) -> ScoreRow {
        let parameter = |&(name, value): &(&str, &str)| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let values = [score, score * 1.001, score * 0.999];
        ScoreRow {
            benchmark: benchmark.into(),
            threads,
            parameters: params.iter().map(parameter).collect(),
            primary: examples::metric("", unit, Combine::Average, &[&values]),
            ..examples::row()
        }
    }

    #[test]
    fn an_answer_is_a_number_with_its_error() {
        let rows = [
            row("x.cas", 1, &[("size", "16")], "ops/us", 10.0),
            row("x.tlab", 1, &[("size", "16")], "ops/us", 30.0),
            row("x.cas", 2, &[("size", "16")], "ops/us", 10.0),
            row("x.tlab", 2, &[("size", "16")], "ops/us", 10.0),
        ];
        let said = answer(&rows, ("tlab", "a buffer (tlab)"), ("cas", "a pointer (cas)"), THREADS).unwrap();
        let expected = "With 1 thread a buffer (tlab) is 3.00 ± 0.03 times as fast as a pointer (cas); with 2 \
                        threads no difference was measured (";
        assert!(said.starts_with(expected), "{said}");
        assert_eq!(answer(&rows, ("tlab", ""), ("lock", ""), THREADS), None);
        let expected = "tlab does 30.0 ± 0.6 ops/us with 1 thread; 10.0 ± 0.2 ops/us with 2 threads";
        assert_eq!(takes(&rows, "tlab", THREADS).unwrap(), expected);
        assert_eq!(takes(&rows, "lock", THREADS), None);
    }

    #[test]
    fn each_value_is_compared_with_one_in_a_sentence() {
        let of = |collector: &str, heap: &str, score: f64| {
            row("trees.build", 1, &[("collector", collector), ("heap", heap)], "ms/op", score)
        };
        let rows = [
            of("parallel", "1", 10.0),
            of("mark-compact", "1", 30.0),
            of("genshen", "1", 60.0),
            of("parallel", "2", 10.0),
            of("mark-compact", "2", 20.0),
        ];
        let expected = "With parallel build is 2.45 ± 0.05 times as fast as build with mark-compact (2.00 to 3.00 in 2 \
                        rows); with genshen build takes 2.00 ± 0.06 times the time.";
        let said = spread(&rows, "build", "collector", "mark-compact").unwrap();
        let plain =
            |text: &str| text.replace("0.05", "").replace("0.06", "").replace("0.02", "").replace("0.03", "");
        assert_eq!(plain(&said), plain(expected));
        assert_eq!(spread(&rows, "spans", "collector", "mark-compact"), None);
    }

    #[test]
    fn a_contrast_is_said_by_the_values_of_a_coordinate() {
        let rows = [
            row("x.cas", 1, &[("size", "16")], "ops/us", 10.0),
            row("x.tlab", 1, &[("size", "16")], "ops/us", 30.0),
            row("x.cas", 1, &[("size", "64")], "ops/us", 10.0),
            row("x.tlab", 1, &[("size", "64")], "ops/us", 20.0),
            row("x.cas", 2, &[("size", "16")], "ops/us", 10.0),
            row("x.tlab", 2, &[("size", "16")], "ops/us", 10.0),
        ];
        assert_eq!(
            contrast(&rows, "mode", "tlab", "cas", THREADS).unwrap(),
            "tlab against cas, 1 thread: 2.00 to 3.00 times as fast; 2 threads: no difference beyond the error \
             (1.00, within 0.99 to 1.01)."
        );
        assert_eq!(contrast(&rows, "mode", "tlab", "lock", THREADS), None);
        let own = scaling(&rows, "cas").unwrap();
        assert!(own.starts_with("cas, 2 threads against 1 thread: no difference"), "{own}");
        assert_eq!(place(&rows[0], &rows, &["mode"]), "size 16, 1 thread");
        let against = all_against(&rows, "size", "16", THREADS);
        assert!(against[1].starts_with("tlab: size 64 against size 16: 0.67 times as fast"), "{against:?}");
    }
}
