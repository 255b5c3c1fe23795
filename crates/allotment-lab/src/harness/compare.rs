//! Rows against their baselines.
//!
//! A row of a JVM is compared with our row at the same coordinates, whatever the baseline of our
//! rows is, since it was measured for this comparison. If the baseline is a run without neighbours,
//! a row of a JVM is compared with that JVM's row without neighbours.
//!
//! All comparisons of rows of one run use this module. A second rule elsewhere would treat missing
//! parameters differently.

use super::neighbours::NEIGHBOURS;
use super::{Baseline, JVM};
use crate::format::{Comparison, ScoreRow};
use crate::statistics::Ratio;

/// Compares each row with its baseline: the row with the baseline's value in its coordinate that
/// agrees in everything else. An axis that the baseline does not have (its mode lacks it) need not
/// agree. A row of a JVM is a baseline for rows of the same JVM only. Scores in different units are
/// not compared, nor is a row without a score.
pub fn compare(rows: &[ScoreRow], baseline: &Baseline) -> Comparison {
    let all_of = |baseline| -> Vec<&ScoreRow> {
        rows.iter().filter(|row| row.is_measured() && is_baseline(row, baseline)).collect()
    };
    let ours = no_jvm();
    let (chosen, beside_jvms) = (all_of(baseline), all_of(&ours));
    let ratio = |row: &ScoreRow| {
        let is_chosen = is_ours(row) || holds_for_jvms(baseline);
        let (baseline, baselines) = if is_chosen { (baseline, &chosen) } else { (&ours, &beside_jvms) };
        if is_baseline(row, baseline) || !row.is_measured() {
            return None;
        }
        let against = baselines.iter().find(|other| agree(row, other, baseline))?;
        Some(Ratio::of(&row.primary.summary(), &against.primary.summary()))
    };
    let beside = if holds_for_jvms(baseline) || rows.iter().all(is_ours) { "" } else { "; JVMs vs ours" };
    Comparison {
        baseline: format!("{}={}{beside}", baseline.coordinate, baseline.value),
        ratios: rows.iter().map(ratio).collect(),
    }
}

/// Our row at the coordinates of a row of a JVM. `None` without such a row, or if `theirs` is not a
/// row of a JVM.
pub fn ours_beside<'a>(rows: &'a [ScoreRow], theirs: &ScoreRow) -> Option<&'a ScoreRow> {
    let found = |row: &&ScoreRow| !is_ours(theirs) && is_ours(row) && agree(theirs, row, &no_jvm());
    rows.iter().find(found)
}

/// The value that stands for our rows in the coordinate of JVMs, which our rows do not have.
pub const NO_JVM: &str = "none";

/// The baseline of JVMs' rows: our rows.
fn no_jvm() -> Baseline {
    Baseline::axis(JVM, NO_JVM)
}

/// Whether the baseline holds for rows of JVMs too.
fn holds_for_jvms(baseline: &Baseline) -> bool {
    [JVM, NEIGHBOURS].contains(&baseline.coordinate.as_str())
}

/// Whether this program measured the row.
fn is_ours(row: &ScoreRow) -> bool {
    row.parameters.iter().all(|p| p.name != JVM)
}

fn is_baseline(row: &ScoreRow, baseline: &Baseline) -> bool {
    if baseline.coordinate == JVM && baseline.value == NO_JVM {
        return is_ours(row);
    }
    if !holds_for_jvms(baseline) && !is_ours(row) {
        return false;
    }
    let (experiment, mode) = names(row);
    match baseline.coordinate.as_str() {
        "mode" => mode == baseline.value || format!("{experiment}.{mode}") == baseline.value,
        "threads" => row.threads.to_string() == baseline.value,
        axis => row.parameters.iter().any(|p| p.name == axis && p.value == baseline.value),
    }
}

fn agree(row: &ScoreRow, other: &ScoreRow, baseline: &Baseline) -> bool {
    let free = |coordinate: &str| baseline.coordinate == coordinate;
    let same_parameters = other.parameters.iter().filter(|p| !free(&p.name)).all(|p| {
        let own = row.parameters.iter().find(|own| own.name == p.name);
        own.map_or(p.name != JVM, |own| own.value == p.value)
    });
    names(row).0 == names(other).0
        && (free("mode") || names(row).1 == names(other).1)
        && (free("threads") || row.threads == other.threads)
        && row.jmh_mode == other.jmh_mode
        && row.primary.unit == other.primary.unit
        && (free(JVM) || is_ours(row) == is_ours(other))
        && same_parameters
}

fn names(row: &ScoreRow) -> (&str, &str) {
    row.benchmark.rsplit_once('.').unwrap_or((&row.benchmark, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    fn row(mode: &str, threads: usize, size: Option<&str>, score: f64) -> ScoreRow {
        let parameter =
            |value: &str| Parameter { name: "size".into(), value: value.into(), label: value.into() };
        ScoreRow {
            benchmark: format!("alloc.{mode}"),
            threads,
            parameters: size.map(parameter).into_iter().collect(),
            primary: examples::metric("", "ns/op", Combine::Average, &[&[score; 3]]),
            ..examples::row()
        }
    }

    fn ratios(rows: &[ScoreRow], baseline: &Baseline) -> Vec<Option<f64>> {
        compare(rows, baseline).ratios.iter().map(|ratio| ratio.map(|ratio| ratio.value)).collect()
    }

    #[test]
    fn modes_are_compared_at_equal_coordinates() {
        let rows = [
            row("shared", 1, Some("16"), 8.0),
            row("shared", 2, Some("16"), 16.0),
            row("tlab", 1, Some("16"), 2.0),
            row("tlab", 2, Some("16"), 2.0),
            row("tlab", 2, Some("64"), 2.0),
        ];
        let expected = [None, None, Some(0.25), Some(0.125), None];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), expected);
        assert_eq!(ratios(&rows, &Baseline::mode("other")), [None; 5]);
    }

    #[test]
    fn what_has_no_score_is_not_compared() {
        let failed = |mode: &str| ScoreRow { benchmark: format!("alloc.{mode}"), ..examples::failed_row() };
        let rows = [failed("shared"), row("tlab", 4, Some("65536"), 2.0)];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), [None, None]);
        let rows = [row("shared", 4, Some("65536"), 2.0), failed("tlab")];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), [None, None]);
    }

    #[test]
    fn threads_and_axes_can_be_the_baseline() {
        let rows = [
            row("tlab", 1, Some("16"), 2.0),
            row("tlab", 2, Some("16"), 3.0),
            row("tlab", 1, Some("64"), 6.0),
        ];
        let threads = Baseline { coordinate: "threads".into(), value: "1".into() };
        assert_eq!(ratios(&rows, &threads), [None, Some(1.5), None]);
        assert_eq!(ratios(&rows, &Baseline::axis("size", "16")), [None, None, Some(3.0)]);
    }

    #[test]
    fn rows_of_jvms_are_compared_with_ours() {
        let on_jvm = |row: ScoreRow, name: &str| {
            let mut row = row;
            row.parameters.push(Parameter { name: JVM.into(), value: name.into(), label: name.into() });
            row
        };
        let rows = [
            row("shared", 1, Some("16"), 8.0),
            on_jvm(row("shared", 1, Some("16"), 4.0), "25-g1"),
            row("tlab", 1, Some("16"), 2.0),
            on_jvm(row("tlab", 1, Some("16"), 3.0), "25-g1"),
            on_jvm(row("tlab", 1, Some("16"), 6.0), "25-z"),
            on_jvm(row("tlab", 2, Some("16"), 6.0), "25-z"),
        ];
        let expected = [None, Some(0.5), Some(0.25), Some(1.5), Some(3.0), None];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), expected);
        let ours = [None, Some(0.5), None, Some(1.5), Some(3.0), None];
        assert_eq!(ratios(&rows, &Baseline::axis(JVM, "none")), ours);
        let beside = |row: ScoreRow, name: &str| {
            let mut row = row;
            row.parameters.push(Parameter {
                name: NEIGHBOURS.into(),
                value: name.into(),
                label: name.into(),
            });
            row
        };
        let company = [
            beside(rows[2].clone(), "none"),
            beside(rows[2].clone(), "1:64:random"),
            on_jvm(beside(row("tlab", 1, Some("16"), 3.0), "none"), "25-g1"),
            on_jvm(beside(row("tlab", 1, Some("16"), 4.5), "1:64:random"), "25-g1"),
        ];
        assert_eq!(ratios(&company, &Baseline::axis(NEIGHBOURS, "none")), [None, Some(1.0), None, Some(1.5)]);
        let g1 = [Some(2.0), None, Some(2.0 / 3.0), None, Some(2.0), None];
        assert_eq!(ratios(&rows, &Baseline::axis(JVM, "25-g1")), g1);
    }

    #[test]
    fn the_row_beside_one_of_a_jvm_is_ours() {
        let on_jvm = |mut row: ScoreRow| {
            row.parameters.push(Parameter { name: JVM.into(), value: "25-g1".into(), label: "25-g1".into() });
            row
        };
        let rows = [
            row("tlab", 1, Some("16"), 1.0),
            on_jvm(row("tlab", 1, Some("64"), 2.0)),
            row("tlab", 1, Some("64"), 3.0),
            row("bare", 1, None, 4.0),
        ];
        let score = |theirs: &ScoreRow| ours_beside(&rows, theirs).map(|row| row.primary.score());
        assert_eq!(score(&rows[1]), Some(3.0));
        assert_eq!(score(&on_jvm(rows[3].clone())), Some(4.0));
        assert_eq!(score(&on_jvm(row("bare", 1, Some("16"), 9.0))), Some(4.0), "an axis that ours lacks");
        assert_eq!(score(&on_jvm(row("tlab", 2, Some("64"), 9.0))), None);
        assert_eq!(score(&rows[0]), None, "measured here");
    }

    #[test]
    fn units_that_differ_are_not_compared() {
        let mut rows = [row("shared", 1, None, 8.0), row("tlab", 1, None, 2.0)];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), [None, Some(0.25)]);
        rows[1].primary.unit = "us/op".into();
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), [None; 2]);
    }

    #[test]
    fn an_axis_the_baseline_lacks_need_not_agree() {
        let rows =
            [row("shared", 1, None, 8.0), row("tlab", 1, Some("16"), 2.0), row("tlab", 1, Some("64"), 4.0)];
        assert_eq!(ratios(&rows, &Baseline::mode("shared")), [None, Some(0.25), Some(0.5)]);
    }
}
