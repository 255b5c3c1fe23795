//! Sentences about rows: one value against another at equal coordinates, as the numbers and their
//! errors allow.
//!
//! Every verdict of an experiment is made with these functions, so that all read alike. Rows
//! measured on a JVM are excluded; one place compares them for all experiments.

use crate::format::ScoreRow;
use crate::format::coordinates::{THREADS, mode, value, varying};
use crate::format::phrase::{Better, count, ratios};
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
    let comparison = compare(rows, &Baseline::axis(coordinate, other));
    let mut parts: Vec<(String, &str, Better, Vec<Ratio>)> = Vec::new();
    let mut names = None;
    for (row, ratio) in rows.iter().zip(&comparison.ratios) {
        let own = value(row, coordinate).filter(|(value, _)| value == one);
        let (Some(ratio), Some((_, label))) = (ratio, own) else { continue };
        let base = values(rows, coordinate).into_iter().find(|(value, _)| value == other);
        names = base
            .map(|(_, base)| format!("{} against {}", worded(coordinate, &label), worded(coordinate, &base)));
        let part = value(row, by).map_or(String::new(), |(_, label)| worded(by, &label));
        let (unit, better) = (row.primary.unit.as_str(), Better::of(&row.primary.unit));
        match parts.iter_mut().find(|(known, of, ..)| *known == part && *of == unit) {
            Some((.., all)) => all.push(*ratio),
            None => parts.push((part, unit, better, vec![*ratio])),
        }
    }
    let several = parts.len() > 1;
    let part = |(name, _, better, all): &(String, &str, Better, Vec<Ratio>)| {
        let said = ratios(all, *better);
        if several && !name.is_empty() { format!("{name}: {said}") } else { said }
    };
    let said: Vec<String> = parts.iter().map(part).collect();
    names.map(|names| format!("{names}{} {}.", if several { "," } else { ":" }, said.join("; ")))
}

/// [`contrast`] of each other value of a coordinate with one, for each mode alone. The mode is
/// named if there are several.
pub(super) fn all_against(rows: &[ScoreRow], coordinate: &str, other: &str, by: &str) -> Vec<String> {
    let modes = values(rows, "mode");
    let mut said = Vec::new();
    for (name, _) in &modes {
        let own = of_mode(rows, name);
        for (one, _) in values(&own, coordinate).iter().filter(|(value, _)| value != other) {
            if let Some(sentence) = contrast(&own, coordinate, one, other, by) {
                said.push(if modes.len() > 1 { format!("{name}: {sentence}") } else { sentence });
            }
        }
    }
    said
}

/// The speed of a mode with the most threads against the fewest.
pub(super) fn scaling(rows: &[ScoreRow], name: &str) -> Option<String> {
    let own = of_mode(rows, name);
    let threads = own.iter().map(|row| row.threads);
    let (fewest, most) = (threads.clone().min()?, threads.max()?);
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

/// A value with its coordinate in words: `4 threads`, `heap 128m`. A mode needs no further word.
fn worded(coordinate: &str, label: &str) -> String {
    match (coordinate, label) {
        (THREADS, number) => {
            number.parse().map_or_else(|_| format!("{number} threads"), |number| count(number, "thread"))
        }
        ("mode" | "collector" | "way" | "set", label) => label.into(),
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
