//! Two files' rows as JSON, for programs.
//!
//! Refused: JMH's format, which has one score per row. Unknown values are `null` here. JMH's files
//! have a word in the place of a number, which most readers of JSON need special handling for.

use super::changes::{Changed, Changes};
use crate::format::ScoreRow;
use crate::format::phrase::Effect;
use crate::statistics::Ratio;
use serde::Serialize;
use std::collections::BTreeMap;

/// An array with an object for each row: rows in both files in the order of the new one, then rows
/// of one file alone. Ends with a newline.
///
/// # Errors
/// None in practice: serde_json fails only on map keys that are not strings, and there are none.
pub fn changes_json(changes: &Changes) -> serde_json::Result<Vec<u8>> {
    let both = changes.both.iter().map(Row::of_both);
    let old = changes.only_old.iter().map(|row| Row::of(Some(row), None, row, None, "only-old"));
    let new = changes.only_new.iter().map(|row| Row::of(None, Some(row), row, None, "only-new"));
    let all: Vec<Row<'_>> = both.chain(old).chain(new).collect();
    let mut text = serde_json::to_vec_pretty(&all)?;
    text.push(b'\n');
    Ok(text)
}

/// The order of the fields is the order in the file.
#[derive(Serialize)]
struct Row<'a> {
    benchmark: &'a str,
    mode: &'a str,
    threads: usize,
    params: BTreeMap<&'a str, &'a str>,
    unit: &'a str,
    old: Option<Score>,
    new: Option<Score>,
    ratio: Option<Interval>,
    verdict: &'static str,
}

/// NaN becomes `null`.
#[derive(Serialize)]
struct Score {
    score: f64,
    error: f64,
}

#[derive(Serialize)]
struct Interval {
    value: f64,
    low: f64,
    high: f64,
}

impl<'a> Row<'a> {
    /// A row with its scores in the two files; its coordinates are those of `row`.
    fn of(
        old: Option<&ScoreRow>,
        new: Option<&ScoreRow>,
        row: &'a ScoreRow,
        ratio: Option<Ratio>,
        verdict: &'static str,
    ) -> Row<'a> {
        let score = |row: &ScoreRow| Score { score: row.primary.score(), error: row.primary.error() };
        Row {
            benchmark: &row.benchmark,
            mode: &row.jmh_mode,
            threads: row.threads,
            params: row.parameters.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect(),
            unit: &row.primary.unit,
            old: old.map(score),
            new: new.map(score),
            ratio: ratio.map(|Ratio { value, low, high }| Interval { value, low, high }),
            verdict,
        }
    }

    fn of_both(one: &'a Changed) -> Row<'a> {
        let verdict = match one.speed {
            Effect::Above => "faster",
            Effect::Below => "slower",
            Effect::None => "same",
            Effect::Unknown => "unknown",
            Effect::NoRatio => "no-ratio",
        };
        let ratio = Some(one.ratio).filter(Ratio::is_number);
        Row::of(Some(&one.old), Some(&one.new), &one.new, ratio, verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::super::changes;
    use super::*;
    use crate::format::{Combine, Entry, Origin, Parameter, examples};
    use serde_json::{Value, json};

    fn entry(benchmark: &str, values: &[f64]) -> Entry {
        let primary = examples::metric("", "ns/op", Combine::Average, &[values]);
        let parameter = Parameter { name: "size".into(), value: "1024".into(), label: "1k".into() };
        let row =
            ScoreRow { benchmark: benchmark.into(), parameters: vec![parameter], primary, ..examples::row() };
        Entry { row, origin: Origin::default() }
    }

    #[test]
    fn each_row_is_an_object_and_what_is_unknown_is_null() {
        let old = [entry("a", &[2.0; 3]), entry("gone", &[1.0; 3]), entry("few", &[1.0])];
        let new = [entry("few", &[2.0]), entry("a", &[3.0; 3]), entry("more", &[1.0; 3])];
        let text = changes_json(&changes(&old, &new)).unwrap();
        assert!(text.ends_with(b"]\n"));
        let rows: Vec<Value> = serde_json::from_slice(&text).unwrap();
        let verdicts: Vec<&Value> = rows.iter().map(|row| &row["verdict"]).collect();
        assert_eq!(verdicts, ["unknown", "slower", "only-old", "only-new"]);
        let own = examples::row();
        let expected = json!({
            "benchmark": "a", "mode": own.jmh_mode, "threads": own.threads, "params": { "size": "1024" }, "unit": "ns/op",
            "old": { "score": 2.0, "error": 0.0 }, "new": { "score": 3.0, "error": 0.0 },
            "ratio": { "value": 1.5, "low": 1.5, "high": 1.5 }, "verdict": "slower",
        });
        assert_eq!(rows[1], expected);
        assert_eq!(rows[0]["old"], json!({ "score": 1.0, "error": null }));
        assert_eq!(rows[0]["ratio"], json!({ "value": 2.0, "low": null, "high": null }));
        let sides = |row: &Value| (row["old"].is_null(), row["new"].is_null(), row["ratio"].is_null());
        assert_eq!((sides(&rows[2]), sides(&rows[3])), ((false, true, true), (true, false, true)));
        assert_eq!(rows[2]["benchmark"], "gone");
    }

    #[test]
    fn a_row_without_a_ratio_says_so() {
        let (old, new) = ([entry("a", &[0.0; 3])], [entry("a", &[3.0; 3])]);
        let rows: Vec<Value> = serde_json::from_slice(&changes_json(&changes(&old, &new)).unwrap()).unwrap();
        assert_eq!((&rows[0]["ratio"], &rows[0]["verdict"]), (&Value::Null, &json!("no-ratio")));
    }
}
