//! Curves of percentiles: how long the slowest tenth, hundredth, thousandth take at least.
//!
//! The x axis is that of HdrHistogram's plots, where 90 %, 99 % and 99.9 % lie at equal distances;
//! the y axis is time, logarithmic. Each row is a line up to its longest time. The rows of a chart
//! differ in as many coordinates as its colours allow.
//!
//! Refused: bars of a few percentiles. They hide where a curve turns, which tells what was waited
//! for.

use super::build::series;
use super::names::Names;
use super::plan::{Roles, is_compared, spelled};
use super::{Scored, limited, numbered, together};
use crate::format::coordinates::varying;
use crate::format::phrase::{nanoseconds_of, time};
use crate::format::{Metric, Samples, ScoreRow};
use crate::harness::{Baseline, Latency};
use crate::statistics::curve;
use allotment_report::chart::{Axis, COLOURS, Chart, Point, Scale};
use allotment_report::page::Group;

/// A row with the times to draw.
pub(super) struct Curve<'a> {
    scored: Scored<'a>,
    /// Points by their places on the axis, with times in nanoseconds.
    points: Vec<Point>,
}

impl<'a> Curve<'a> {
    /// The curves of rows in sample mode; `None` for other rows, and for units that are no times.
    pub(super) fn of_samples(rows: &[Scored<'a>]) -> Option<Vec<Curve<'a>>> {
        let of = |scored: &Scored<'a>| {
            let points = of_metric(&scored.row.primary)?;
            Some(Curve { scored: *scored, points })
        };
        rows.iter().map(of).collect()
    }
}

/// The charts of an experiment whose answer is latencies, one latency after the other.
/// Rows without any percentile are in the table alone.
pub(in crate::report) fn latency_charts(
    rows: &[Scored<'_>],
    latencies: &[Latency],
    baseline: Option<&Baseline>,
) -> Vec<Group> {
    let group = |latency: &Latency| {
        let curve = |scored: &Scored<'_>| points(scored.row, latency.label);
        let curves: Vec<Curve<'_>> = rows
            .iter()
            .filter_map(|scored| Some(Curve { scored: *scored, points: curve(scored)? }))
            .collect();
        (latency.what, curve_group(&curves, String::new(), baseline))
    };
    let all = together("Percentiles", latencies.iter().map(group));
    if all.charts.is_empty() { Vec::new() } else { vec![all] }
}

/// The points of a latency: of its distribution, or else of the percentiles that a row has.
fn points(row: &ScoreRow, label: &str) -> Option<Vec<Point>> {
    let whole = row.secondary.iter().find(|metric| metric.label == label).and_then(of_metric);
    whole.or_else(|| of_percentiles(row, label))
}

/// The points of a distribution. Those at ticks and the last have words, and so markers. A
/// logarithmic axis has no place for a time of zero.
fn of_metric(metric: &Metric) -> Option<Vec<Point>> {
    let unit = nanoseconds_of(&metric.unit)?;
    let Samples::Histograms(_) = &metric.samples else { return None };
    let places = curve(&metric.pooled_histogram());
    let last = places.last()?.0;
    let point = |(place, value): (f64, f64)| {
        let (nines, y) = (place.log10(), value * unit);
        let at_tick = (nines - nines.round()).abs() < 1e-9 && nines > 0.5;
        let label = match place {
            place if place == last => format!("longest: {}", time(y)),
            _ if at_tick => format!("{}: {}", percent(nines.round() as usize), time(y)),
            _ => String::new(),
        };
        unspread(place, y, label)
    };
    let points: Vec<Point> = places.into_iter().map(point).filter(|point| point.y > 0.0).collect();
    (!points.is_empty()).then_some(points)
}

fn unspread(x: f64, y: f64, label: String) -> Point {
    Point { x, y, low: f64::NAN, high: f64::NAN, label }
}

/// The points of metrics such as `op.p99` and `op.max`. The longest time has the place that the
/// number of times gives it, or a decade after the last percentile if that number is unknown.
fn of_percentiles(row: &ScoreRow, label: &str) -> Option<Vec<Point>> {
    let own = |metric: &'_ Metric| {
        let part = metric.label.strip_prefix(label)?.strip_prefix('.')?.to_string();
        Some((part, metric.score() * nanoseconds_of(&metric.unit)?))
    };
    let (mut points, mut longest): (Vec<Point>, Option<f64>) = (Vec::new(), None);
    for (part, y) in row.secondary.iter().filter_map(own).filter(|(_, value)| *value > 0.0) {
        match part.strip_prefix('p').map(|text| (text, text.parse::<f64>())) {
            Some((text, Ok(part))) if (0.0..100.0).contains(&part) => {
                points.push(unspread(100.0 / (100.0 - part), y, format!("{text} %: {}", time(y))));
            }
            Some((_, Ok(100.0))) => longest = Some(y),
            _ if part == "max" => longest = Some(y),
            _ => {}
        }
    }
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let last = points.last()?.x;
    let all = row.secondary.iter().find(|metric| metric.label == format!("{label}.n")).map(Metric::score);
    let end = all.map_or(last * 10.0, |all| all + 1.0).max(last * 2.0);
    points.extend(longest.map(|longest| unspread(end, longest, format!("longest: {}", time(longest)))));
    (points.len() > 1).then_some(points)
}

/// The charts of curves that belong together.
pub(super) fn curve_group(curves: &[Curve<'_>], title: String, baseline: Option<&Baseline>) -> Group {
    let rows: Vec<&ScoreRow> = curves.iter().map(|curve| curve.scored.row).collect();
    let plan = plan(&rows, baseline);
    let names = Names::of(&rows, &plan.series, baseline);
    let scored: Vec<Scored<'_>> = curves.iter().map(|curve| curve.scored).collect();
    let mut charts = Vec::new();
    for place in plan.places(&scored) {
        let parts = names.parts();
        for (index, part) in parts.iter().enumerate() {
            let inside = |row: &ScoreRow| plan.belongs(row, &place) && part.contains(&names.main(row));
            let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| inside(curve.scored.row)).collect();
            if !own.is_empty() {
                charts.push(chart(numbered(spelled(&plan.panels, &place), index, parts.len()), &own, &names));
            }
        }
    }
    limited(title, charts)
}

/// All coordinates are series as long as there are colours for them. Those that experiments name
/// first become panels first. The baseline's coordinate and the mode stay series.
fn plan(rows: &[&ScoreRow], baseline: Option<&Baseline>) -> Roles {
    let mut series = varying(rows);
    let mut panels = Vec::new();
    loop {
        let names: Vec<String> = series.iter().map(|one| one.name.clone()).collect();
        let free = series.iter().position(|one| !is_compared(&one.name, baseline));
        match free {
            Some(free) if Names::of(rows, &names, baseline).all.len() > COLOURS => {
                panels.push(series.remove(free));
            }
            _ => return Roles { along: None, series: names, panels },
        }
    }
}

fn chart(title: String, curves: &[&Curve<'_>], names: &Names) -> Chart {
    let last = curves.iter().filter_map(|curve| curve.points.last()).map(|point| point.x);
    let last = last.fold(1.0, f64::max);
    Chart {
        title,
        x: Axis { label: "percentile; a line ends at the longest time".into(), scale: Scale::Percentile },
        // A percentage is not exact in binary.
        ticks: ticks().take_while(|(place, _)| *place <= last * 1.000_001).collect(),
        y: Axis { label: "time".into(), scale: Scale::Time },
        series: series(names, curves.iter().map(|curve| (curve.scored.row, curve.points.clone()))),
    }
}

/// The ticks of the axis: 0 %, 90 %, 99 %, 99.9 % and so on.
fn ticks() -> impl Iterator<Item = (f64, String)> {
    (0..20).map(|nines| (10_f64.powi(nines), percent(nines as usize)))
}

/// A percentage with this number of nines.
fn percent(nines: usize) -> String {
    match nines {
        0 => "0 %".into(),
        1 => "90 %".into(),
        2 => "99 %".into(),
        more => format!("99.{} %", "9".repeat(more - 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::charts;
    use super::*;
    use crate::format::{Combine, Parameter, examples};
    use crate::harness::Charts;

    const LATENCY: Latency = Latency { label: "op", what: "an operation" };

    fn row(mutators: &str, secondary: Vec<Metric>) -> ScoreRow {
        let parameter = Parameter { name: "mutators".into(), value: mutators.into(), label: mutators.into() };
        ScoreRow { parameters: vec![parameter], secondary, ..examples::row() }
    }

    /// 1 to `most` us, once each, in two forks.
    fn whole(most: u64) -> Metric {
        let half =
            |odd: u64| (1..=most).filter(|time| time % 2 == odd).map(|time| (time as f64, 1)).collect();
        let samples = Samples::Histograms(vec![vec![half(0)], vec![half(1)]]);
        Metric { label: "op".into(), unit: "us".into(), combine: Combine::Average, samples }
    }

    fn drawn(rows: &[ScoreRow]) -> Vec<Group> {
        let scored = |row| Scored { row, score: 1.0, error: 0.1, ratio: None };
        latency_charts(&rows.iter().map(scored).collect::<Vec<_>>(), &[LATENCY], None)
    }

    #[test]
    fn each_row_is_a_line_up_to_its_longest_time() {
        let rows = [row("100", vec![whole(10_000)]), row("500", vec![whole(999)])];
        let chart = drawn(&rows).remove(0).charts.remove(0);
        assert_eq!(
            (chart.title.as_str(), &chart.x.scale, &chart.y.scale),
            ("an operation", &Scale::Percentile, &Scale::Time)
        );
        let ticks: Vec<&str> = chart.ticks.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(ticks, ["0 %", "90 %", "99 %", "99.9 %", "99.99 %"]);
        let series: Vec<(&str, usize)> =
            chart.series.iter().map(|one| (one.name.as_str(), one.look.colour)).collect();
        assert_eq!(series, [("mutators 100", 1), ("mutators 500", 2)]);
        let points = &chart.series[0].points;
        assert!(
            points.len() > 70
                && points.windows(2).all(|pair| pair[0].x < pair[1].x && pair[0].y <= pair[1].y)
        );
        let labels: Vec<&str> =
            points.iter().map(|point| point.label.as_str()).filter(|label| !label.is_empty()).collect();
        let expected = ["90 %: 9 ms", "99 %: 9.9 ms", "99.9 %: 9.99 ms", "longest: 10 ms"];
        assert_eq!(labels, expected);
        assert_eq!(points.last().map(|point| (point.x, point.y)), Some((10_001.0, 1e7)));
    }

    #[test]
    fn a_file_without_distributions_has_lines_through_its_percentiles() {
        let metric = |label: &str, score: f64| examples::metric(label, "us", Combine::Average, &[&[score]]);
        let old = row("1", vec![metric("op.p99", 40.0), metric("op.p50", 5.0), metric("op.max", 900.0)]);
        let on_jvm = row("2", vec![metric("op.p50", 5.0), metric("op.p100", 9.0), metric("op.n", 99_999.0)]);
        let without_end =
            row("3", vec![metric("op.p50", 5.0), metric("op.p90", 9.0), metric("op.max.ran", 4.0)]);
        let nothing = row("4", vec![metric("op.p50", 5.0), metric("pause.p99", 9.0)]);
        let chart = drawn(&[old, on_jvm, without_end, nothing]).remove(0).charts.remove(0);
        let points = |index: usize| -> Vec<(i64, i64)> {
            let points = chart.series[index].points.iter();
            points.map(|point| (point.x.round() as i64, point.y.round() as i64)).collect()
        };
        assert_eq!(points(0), [(2, 5000), (100, 40_000), (1000, 900_000)]);
        assert_eq!(points(1), [(2, 5000), (100_000, 9000)]);
        assert_eq!(points(2), [(2, 5000), (10, 9000)]);
        assert_eq!(chart.series.len(), 3, "one percentile is no line");
        assert_eq!(chart.series[0].points[1].label, "99 %: 40 us");
        assert_eq!(chart.series[2].points[1].label, "90 %: 9 us", "which is not the longest");
        assert_eq!(drawn(&[row("1", vec![])]), []);
    }

    #[test]
    fn rows_of_sample_mode_are_curves_and_others_are_not() {
        let (plain, sampled) = (examples::row(), examples::sample_row());
        let scored = |row| Scored { row, score: 1.0, error: 0.1, ratio: None };
        let groups = charts(&[scored(&plain), scored(&sampled)], Charts::default(), None);
        let scales: Vec<&Scale> = groups.iter().map(|group| &group.charts[0].y.scale).collect();
        assert_eq!(scales, [&Scale::Linear, &Scale::Time]);
        assert_eq!(groups[1].title, "time of single calls");
    }

    #[test]
    fn variants_beyond_the_colours_have_charts_of_their_own() {
        let rows: Vec<ScoreRow> = (0..9)
            .map(|index| {
                let mut row = row(&(index % 3).to_string(), vec![whole(20)]);
                let value = (index / 3).to_string();
                row.parameters.push(Parameter { name: "paced".into(), label: value.clone(), value });
                row
            })
            .collect();
        let charts = drawn(&rows).remove(0).charts;
        let titles: Vec<&str> = charts.iter().map(|chart| chart.title.as_str()).collect();
        let expected =
            ["an operation: mutators = 0", "an operation: mutators = 1", "an operation: mutators = 2"];
        assert_eq!(titles, expected);
        assert!(charts.iter().all(|chart| chart.series.len() == 3));
    }
}
