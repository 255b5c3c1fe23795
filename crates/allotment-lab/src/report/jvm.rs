//! The lab against a JVM, for any experiment that has rows of one.

use crate::format::answer::{Compared, sentence, speeds, within};
use crate::format::coordinates::{MODE, mode, value, varying};
use crate::format::phrase::{self, Better, Effect, interval};
use crate::format::{Metric, ScoreRow, grouped};
use crate::harness::{JVM, Latency, ours_beside};
use crate::statistics::Ratio;

/// A sentence for each mode: the lab's rows over those of each JVM at equal coordinates. Where the
/// answer is latencies, a sentence for each row of a JVM.
pub(super) fn answers(rows: &[ScoreRow], latencies: &[Latency]) -> Vec<String> {
    let late = |theirs: &ScoreRow| lateness(rows, theirs, latencies.first()?);
    if latencies.is_empty() { speeds_of(rows) } else { rows.iter().filter_map(late).collect() }
}

fn speeds_of(rows: &[ScoreRow]) -> Vec<String> {
    let ratio = |theirs: &'_ ScoreRow| {
        let (jvm, _) = value(theirs, JVM)?;
        let ours = ours_beside(rows, theirs)?;
        let ratio = Ratio::of(&ours.primary.summary(), &theirs.primary.summary());
        // Times and rates apart.
        Some(((mode(ours), ours.primary.unit.as_str()), (phrase::jvm(&jvm), ratio)))
    };
    let of = |((mode, unit), ratios): ((&str, &str), Vec<(String, Ratio)>)| {
        let clause = |(jvm, ratios): (String, Vec<Ratio>)| Compared {
            subject: mode.into(),
            other: jvm,
            at: String::new(),
            speeds: speeds(&ratios, Better::of(unit)),
        };
        sentence(&grouped(ratios).into_iter().map(clause).collect::<Vec<_>>())
    };
    grouped(rows.iter().filter_map(ratio)).into_iter().map(of).collect()
}

/// `shop here, 99 % of ...: 0.15 ± 0.01 times the time of JDK 25 Parallel`: the percentile P99 of
/// the lab's row over that of a JVM's row, whose runs give both errors.
fn lateness(rows: &[ScoreRow], theirs: &ScoreRow, latency: &Latency) -> Option<String> {
    let (jvm, _) = value(theirs, JVM)?;
    let ours = ours_beside(rows, theirs)?;
    let label = format!("{}.p99", latency.label);
    let of = |row: &ScoreRow| -> Option<Metric> {
        row.secondary.iter().find(|metric| metric.label == label).cloned()
    };
    let ratio = Ratio::of(&of(ours)?.summary(), &of(theirs)?.summary());
    let jvm = phrase::jvm(&jvm);
    let said = match Effect::of(&ratio) {
        Effect::Above | Effect::Below => format!("{} times that of {jvm}", within(&ratio)),
        Effect::None => {
            format!("no difference from {jvm} was measured ({} times its value)", interval(&ratio))
        }
        Effect::Unknown => format!("{} times that of {jvm}, of unknown error", within(&ratio)),
        Effect::NoRatio => return None,
    };
    let all: Vec<&ScoreRow> = rows.iter().filter(|row| value(row, JVM).is_some()).collect();
    let place = |name: &str| value(theirs, name).map(|(_, label)| format!(", {name} {label}"));
    let places: String = varying(&all)
        .iter()
        .filter(|one| ![MODE, JVM].contains(&one.name.as_str()))
        .filter_map(|one| place(&one.name))
        .collect();
    Some(format!("{} here{places}, {} at P99: {said}.", mode(ours), latency.what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    fn row(size: &str, jvm: Option<&str>, score: f64) -> ScoreRow {
        let parameter = |(name, value): (&str, &str)| Parameter {
            name: name.into(),
            value: value.into(),
            label: value.into(),
        };
        let mut parameters = vec![parameter(("size", size))];
        parameters.extend(jvm.map(|jvm| parameter((JVM, jvm))));
        let primary = examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]);
        ScoreRow { benchmark: "tlab.tlab".into(), parameters, primary, ..examples::row() }
    }

    #[test]
    fn rows_are_compared_at_equal_coordinates() {
        let rows = [
            row("16", None, 30.0),
            row("64", None, 10.0),
            row("16", Some("25-parallel"), 20.0),
            row("64", Some("25-parallel"), 20.0),
            row("16", Some("17-g1"), 15.0),
            row("144", Some("17-g1"), 15.0),
        ];
        let expected = [
            "tlab is 0.50 to 1.50 times as fast as JDK 25 Parallel: faster in 1 of 2 rows, slower in 1; tlab is 2.00 ± 0.00 \
             times as fast as JDK 17 G1.",
        ];
        assert_eq!(answers(&rows, &[]), expected);
        assert_eq!(answers(&rows[..2], &[]), [""; 0]);
    }

    /// A time per operation that is larger is slower.
    #[test]
    fn times_and_rates_are_both_told_as_speeds() {
        let mut rows = [row("16", None, 10.0), row("16", Some("25-g1"), 20.0)];
        rows.iter_mut().for_each(|row| row.primary.unit = "ns/op".into());
        assert_eq!(answers(&rows, &[]), ["tlab is 2.00 ± 0.00 times as fast as JDK 25 G1."]);
        let equal = [row("16", None, 10.0), row("16", Some("25-g1"), 10.0)];
        let expected = "No difference between tlab and JDK 25 G1 was measured (1.00 to 1.00 times as fast).";
        assert_eq!(answers(&equal, &[]), [expected]);
    }

    #[test]
    fn latencies_are_compared_at_a_percentile_and_not_by_the_time_of_the_run() {
        let latency = Latency { label: "preparation", what: "lateness of the preparation" };
        let of = |jvm: Option<&str>, late: f64| {
            let late = [late, late * 1.01, late * 0.99];
            let secondary = vec![examples::metric("preparation.p99", "us", Combine::Average, &[&late])];
            ScoreRow { secondary, ..row("16", jvm, 31_000.0) }
        };
        let rows = [of(None, 10.0), of(Some("25-genshen"), 100.0), row("16", Some("25-g1"), 31_000.0)];
        let said = answers(&rows, &[latency]);
        assert_eq!(said.len(), 1, "{said:?}");
        let expected = "tlab here, lateness of the preparation at P99: 0.10";
        assert!(
            said[0].starts_with(expected) && said[0].contains("JDK 25 generational Shenandoah"),
            "{said:?}"
        );
    }
}
