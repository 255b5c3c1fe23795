//! Tests with rows of many shapes, and their charts.

use super::*;
use crate::format::{Combine, Parameter, examples};
use allotment_report::chart::{COLOURS, Scale};
use proptest::prelude::*;

fn row(mode: &str, params: &[(&str, &str)], threads: usize, score: f64) -> ScoreRow {
    let parameter = |(name, value): &(&str, &str)| Parameter {
        name: (*name).into(),
        value: (*value).into(),
        label: (*value).into(),
    };
    ScoreRow {
        benchmark: format!("tlab.{mode}"),
        threads,
        parameters: params.iter().map(parameter).collect(),
        primary: examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]),
        ..examples::row()
    }
}

fn of(rows: &[ScoreRow], wanted: Charts, baseline: Option<&Baseline>) -> Vec<Group> {
    let scored = |row| Scored { row, score: row.primary.score(), error: row.primary.error(), ratio: None };
    charts(&rows.iter().map(scored).collect::<Vec<_>>(), wanted, baseline)
}

/// Two modes, three sizes, two numbers of threads.
fn grid() -> Vec<ScoreRow> {
    let mut rows = Vec::new();
    for mode in ["tlab", "bare"] {
        for size in ["144", "16", "64"] {
            for threads in [1, 2] {
                rows.push(row(mode, &[("size", size)], threads, 10.0));
            }
        }
    }
    rows
}

#[test]
fn the_coordinate_with_most_numbers_runs_along() {
    let groups = of(&grid(), Charts::default(), Some(&Baseline::mode("bare")));
    assert_eq!(groups.len(), 1);
    let charts = &groups[0].charts;
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["threads = 1", "threads = 2"]);
    assert_eq!((charts[0].x.label.as_str(), &charts[0].x.scale), ("size", &Scale::Log));
    let series: Vec<_> = charts[0].series.iter().map(|s| (s.name.as_str(), s.look.colour)).collect();
    assert_eq!(series, [("bare", 0), ("tlab", 1)], "the baseline is first, in ink");
    let xs: Vec<f64> = charts[0].series[0].points.iter().map(|point| point.x).collect();
    assert_eq!(xs, [16.0, 64.0, 144.0]);
}

#[test]
fn an_experiment_may_say_what_runs_along() {
    let wanted = Charts { along: Some("threads"), by_mode: true };
    let groups = of(&grid(), wanted, None);
    let titles: Vec<&str> = groups[0].charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!((groups.len(), titles.len()), (1, 6));
    assert_eq!(titles[2..4], ["tlab: size = 144", "bare: size = 16"]);
    assert_eq!(groups[0].charts[0].x.label, "threads");
}

#[test]
fn a_row_without_the_coordinate_is_a_line_across_in_every_chart() {
    let mut rows = grid();
    rows.push(row("malloc", &[], 1, 5.0));
    let charts = of(&rows, Charts::default(), None).remove(0).charts;
    let malloc: Vec<bool> = charts
        .iter()
        .map(|c| c.series.iter().any(|s| s.name == "malloc" && s.points[0].x.is_nan()))
        .collect();
    assert_eq!(malloc, [true, false], "it was measured with one thread");
}

#[test]
fn without_numbers_there_are_bars() {
    let rows = [row("a", &[], 1, 1.0), row("b", &[], 1, 2.0), row("b", &[], 2, 3.0)];
    let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
    assert_eq!(chart.x.scale, Scale::Words(vec!["threads = 1".into(), "threads = 2".into()]));
    assert_eq!(chart.series.iter().map(|series| series.points.len()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(chart.y.scale, Scale::Linear);
}

#[test]
fn rows_of_a_jvm_have_our_colour_and_a_dash() {
    let mut rows = grid();
    rows.push(row("tlab", &[("size", "16"), ("jvm", "25-parallel")], 1, 5.0));
    rows.push(row("tlab", &[("size", "16"), ("jvm", "17-g1")], 1, 5.0));
    let charts = of(&rows, Charts::default(), Some(&Baseline::mode("bare"))).remove(0).charts;
    let looks: Vec<_> =
        charts[0].series.iter().map(|s| (s.name.as_str(), s.look.colour, s.look.dash)).collect();
    assert_eq!(
        looks,
        [("bare", 0, 0), ("tlab", 1, 0), ("tlab, JDK 25 Parallel", 1, 1), ("tlab, JDK 17 G1", 1, 2)]
    );
}

#[test]
fn rows_with_other_parameters_are_drawn_too() {
    let rows = [
        row("list", &[("size", "1"), ("kind", "array")], 1, 1.0),
        row("list", &[("size", "1"), ("kind", "linked")], 1, 2.0),
        // No row of `size = 2` has a kind.
        row("sort", &[("size", "2")], 1, 3.0),
        row("sort", &[("size", "1")], 1, 4.0),
    ];
    let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
    let words = ["size = 1, kind = array", "size = 1, kind = linked", "size = 2"].map(String::from);
    assert_eq!(chart.x.scale, Scale::Words(words.to_vec()));
    let bars = |name: &str| -> Vec<(f64, f64)> {
        let series = chart.series.iter().find(|series| series.name == name).unwrap();
        series.points.iter().map(|point| (point.x, point.y)).collect()
    };
    assert_eq!(bars("list"), [(0.0, 1.0), (1.0, 2.0)]);
    assert_eq!(bars("sort"), [(0.0, 4.0), (1.0, 4.0), (2.0, 3.0)], "in each chart of its size");
}

#[test]
fn rows_none_of_which_has_all_parameters_are_told_apart() {
    let rows = [
        row("a", &[("x", "1")], 1, 1.0),
        row("a", &[("x", "2")], 1, 2.0),
        row("b", &[("y", "1")], 1, 3.0),
        row("b", &[("y", "2")], 1, 4.0),
    ];
    let chart = of(&rows, Charts::default(), None).remove(0).charts.remove(0);
    let words = ["x = 1", "x = 2", "y = 1", "y = 2"].map(String::from);
    assert_eq!(chart.x.scale, Scale::Words(words.to_vec()));
}

#[test]
fn a_baseline_that_is_alone_somewhere_is_drawn_there() {
    let mut rows = Vec::new();
    for mode in 0..9 {
        for size in ["1", "2", "4"] {
            rows.push(row(&format!("m{mode}"), &[("size", size)], 1, 1.0));
        }
    }
    rows.push(row("m3", &[("size", "1")], 2, 5.0));
    let charts = of(&rows, Charts::default(), Some(&Baseline::mode("m3"))).remove(0).charts;
    let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
    assert_eq!(titles, ["threads = 1 (1 of 2)", "threads = 1 (2 of 2)", "threads = 2 (1 of 2)"]);
}

/// A row of one of three modes, with one or two threads and with some of three parameters.
fn any_row() -> impl Strategy<Value = ScoreRow> {
    (0..3, prop::array::uniform3(0..4), 1..3_usize).prop_map(|(mode, values, threads)| {
        let texts = values.map(|value: i32| value.to_string());
        let all = ["a", "b", "c"].into_iter().zip(&texts).map(|(name, text)| (name, text.as_str()));
        let params: Vec<(&str, &str)> = all.filter(|(_, text)| *text != "0").collect();
        row(&format!("m{mode}"), &params, threads, 1.0)
    })
}

proptest! {
    #[test]
    fn every_row_is_drawn(
        mut rows in prop::collection::vec(any_row(), 1..24),
        along in any::<bool>(),
        baseline in any::<bool>(),
    ) {
        // Each row is identified by its score.
        for (index, row) in rows.iter_mut().enumerate() {
            let score = 1.0 + index as f64;
            row.primary = examples::metric("", "ops/us", Combine::Average, &[&[score; 3]]);
        }
        let wanted = Charts { along: along.then_some("b"), ..Charts::default() };
        let baseline = baseline.then(|| Baseline::mode("m0"));
        let group = of(&rows, wanted, baseline.as_ref()).remove(0);
        let series = || group.charts.iter().flat_map(|chart| &chart.series);
        for row in &rows {
            let drawn = series().flat_map(|one| &one.points).any(|point| point.y == row.primary.score());
            prop_assert!(drawn || group.left_out > 0, "{} is in no chart", row.full_name());
        }
    }
}

#[test]
fn many_series_are_divided_and_the_baseline_is_in_each() {
    let mut rows = Vec::new();
    for mode in 0..9 {
        for threads in [1, 2, 4] {
            rows.push(row(&format!("m{mode}"), &[], threads, 1.0));
        }
    }
    let charts = of(&rows, Charts::default(), Some(&Baseline::mode("m3"))).remove(0).charts;
    assert_eq!(charts.iter().map(|chart| chart.series.len()).collect::<Vec<_>>(), [5, 5]);
    assert_eq!((charts[0].title.as_str(), charts[1].title.as_str()), ("(1 of 2)", "(2 of 2)"));
    assert!(charts.iter().all(|chart| chart.series[0].name == "m3"));
    assert!(charts.iter().flat_map(|c| &c.series).all(|s| s.look.colour <= COLOURS));
}

#[test]
fn many_combinations_become_series_and_the_rest_is_counted() {
    let mut rows = Vec::new();
    for a in 0..9 {
        for b in 0..9 {
            for c in ["on", "off"] {
                for x in 0..10 {
                    let values = [a.to_string(), b.to_string(), x.to_string()];
                    let params = [("a", &*values[0]), ("b", &*values[1]), ("c", c), ("x", &*values[2])];
                    rows.push(row("m", &params, 1, 1.0));
                }
            }
        }
    }
    let group = of(&rows, Charts::default(), None).remove(0);
    assert_eq!((group.charts.len(), group.left_out), (MOST_CHARTS, 81 - MOST_CHARTS));
    let names: Vec<&str> = group.charts[0].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["on", "off"]);
}
