//! Curves of percentiles: how long the slowest tenth, hundredth, thousandth take at least.
//!
//! The x axis is that of HdrHistogram's plots, where 90 %, 99 % and 99.9 % lie at equal distances;
//! the y axis is time, logarithmic. Each row is a line up to its longest time. The rows of a chart
//! differ in as many coordinates as its colours allow.
//!
//! Refused: bars of a few percentiles. They hide where a curve turns, which tells what was waited
//! for.

use super::super::names::Names;
use super::super::{Axis, COLOURS, Chart, Point, Scale, Series};
use super::plan::{Plan, spelled};
use super::{Group, MOST_CHARTS, Scored, numbered};
use crate::format::coordinates::{MODE, varying};
use crate::format::phrase::{nanoseconds_of, time};
use crate::format::{Metric, Samples, ScoreRow};
use crate::harness::{Baseline, JVM, Latency};
use crate::statistics::curve;
use std::collections::BTreeMap;

/// A row with the times to draw.
pub(super) struct Curve<'a> {
    scored: Scored<'a>,
    /// Places of the axis with the times there, in nanoseconds. The last is the longest time.
    points: Vec<(f64, f64)>,
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

/// The charts of an experiment whose answer is latencies: a group for each of them. Rows without any
/// percentile are in the table alone.
pub fn latency_charts(rows: &[Scored<'_>], latencies: &[Latency], baseline: Option<&Baseline>) -> Vec<Group> {
    let of = |latency: &Latency| {
        let curve = |scored: &Scored<'_>| points(scored.row, latency.label);
        let curves: Vec<Curve<'_>> = rows
            .iter()
            .filter_map(|scored| Some(Curve { scored: *scored, points: curve(scored)? }))
            .collect();
        let title = format!("Percentiles: {}", latency.what);
        (!curves.is_empty()).then(|| curve_group(&curves, latency.what, title, baseline))
    };
    latencies.iter().filter_map(of).collect()
}

/// The points of a latency: of its distribution, or else of the percentiles that a row has.
fn points(row: &ScoreRow, label: &str) -> Option<Vec<(f64, f64)>> {
    let whole = row.secondary.iter().find(|metric| metric.label == label).and_then(of_metric);
    whole.or_else(|| of_percentiles(row, label))
}

fn of_metric(metric: &Metric) -> Option<Vec<(f64, f64)>> {
    let unit = nanoseconds_of(&metric.unit)?;
    let Samples::Histograms(_) = &metric.samples else { return None };
    let points = curve(&metric.pooled_histogram()).into_iter().map(|(place, value)| (place, value * unit));
    // A logarithmic axis has no place for a time of zero.
    let points: Vec<(f64, f64)> = points.filter(|(_, value)| *value > 0.0).collect();
    (!points.is_empty()).then_some(points)
}

/// The points of metrics such as `op.p99` and `op.max`. The longest time has the place that the
/// number of times gives it, or a decade behind the last percentile where that is unknown.
fn of_percentiles(row: &ScoreRow, label: &str) -> Option<Vec<(f64, f64)>> {
    let own = |metric: &'_ Metric| {
        let part = metric.label.strip_prefix(label)?.strip_prefix('.')?.to_string();
        Some((part, metric.score() * nanoseconds_of(&metric.unit)?))
    };
    let (mut points, mut longest): (Vec<(f64, f64)>, Option<f64>) = (Vec::new(), None);
    for (part, value) in row.secondary.iter().filter_map(own).filter(|(_, value)| *value > 0.0) {
        match part.strip_prefix('p').and_then(|percent| percent.parse::<f64>().ok()) {
            Some(percent) if (0.0..100.0).contains(&percent) => {
                points.push((1.0 / (1.0 - percent / 100.0), value));
            }
            Some(100.0) => longest = Some(value),
            _ if part == "max" => longest = Some(value),
            _ => {}
        }
    }
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = points.last()?.0;
    let all = row.secondary.iter().find(|metric| metric.label == format!("{label}.n")).map(Metric::score);
    let end = all.map_or(last * 10.0, |all| all + 1.0).max(last * 2.0);
    points.extend(longest.map(|longest| (end, longest)));
    (points.len() > 1).then_some(points)
}

/// The charts of curves that belong together.
pub(super) fn curve_group(
    curves: &[Curve<'_>],
    what: &str,
    title: String,
    baseline: Option<&Baseline>,
) -> Group {
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
                let title = numbered(spelled(&plan.panels, &place), index, parts.len());
                charts.push(chart(title, what, &own, &names));
            }
        }
    }
    let left_out = charts.len().saturating_sub(MOST_CHARTS);
    charts.truncate(MOST_CHARTS);
    Group { title, charts, left_out }
}

/// All coordinates are series as long as there are colours for them. Those that experiments name
/// first become panels first. The baseline's coordinate and the mode stay series.
fn plan(rows: &[&ScoreRow], baseline: Option<&Baseline>) -> Plan {
    let mut series = varying(rows);
    let mut panels = Vec::new();
    let is_compared = |name: &str| {
        name == MODE || name == JVM || baseline.is_some_and(|baseline| baseline.coordinate == name)
    };
    loop {
        let names: Vec<String> = series.iter().map(|one| one.name.clone()).collect();
        let free = series.iter().position(|one| !is_compared(&one.name));
        match free {
            Some(free) if Names::of(rows, &names, baseline).all.len() > COLOURS => {
                panels.push(series.remove(free));
            }
            _ => return Plan { along: None, series: names, panels },
        }
    }
}

fn chart(title: String, what: &str, curves: &[&Curve<'_>], names: &Names) -> Chart {
    let mut found: BTreeMap<(usize, usize, String), Series> = BTreeMap::new();
    for curve in curves {
        let (look, name) = (names.look(curve.scored.row), names.whole(curve.scored.row));
        let series = found.entry((look.colour, look.dash, name.clone())).or_insert_with(|| Series {
            name,
            look,
            points: Vec::new(),
        });
        series.points.extend(marked(&curve.points));
    }
    let longest = curves.iter().filter_map(|curve| curve.points.last()).map(|(place, _)| *place);
    let longest = longest.fold(1.0, f64::max);
    Chart {
        title,
        x: Axis { label: "percentile; a line ends at the longest".into(), scale: Scale::Percentile },
        ticks: ticks().take_while(|(place, _)| *place <= longest).collect(),
        y: Axis { label: what.into(), scale: Scale::Time },
        series: found.into_values().collect(),
    }
}

/// The ticks of the axis: 0 %, 90 %, 99 %, 99.9 % and so on.
fn ticks() -> impl Iterator<Item = (f64, String)> {
    (0..16).map(|nines| (10_f64.powi(nines), percent(nines as usize)))
}

/// A percentage of so many nines.
fn percent(nines: usize) -> String {
    match nines {
        0 => "0 %".into(),
        1 => "90 %".into(),
        2 => "99 %".into(),
        more => format!("99.{} %", "9".repeat(more - 2)),
    }
}

/// Points of which those at ticks and the last have words, and so markers. A curve of few points has
/// words at all of them.
fn marked(points: &[(f64, f64)]) -> impl Iterator<Item = Point> {
    /// More points than a row has percentiles of its own.
    const FEW: usize = 10;
    let last = points.len() - 1;
    points.iter().enumerate().map(move |(index, &(place, y))| {
        let nines = place.log10();
        let label = if index == last {
            format!("longest {}", time(y))
        } else if (nines - nines.round()).abs() < 1e-9 && nines >= 0.5 {
            format!("{}: {}", percent(nines.round() as usize), time(y))
        } else if points.len() <= FEW {
            format!("{:.4} %: {}", 100.0 * (1.0 - 1.0 / place), time(y))
        } else {
            String::new()
        };
        Point { x: place, y, low: f64::NAN, high: f64::NAN, label }
    })
}
