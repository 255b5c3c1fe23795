//! Chooses charts for rows: the coordinate along x, the series, and the coordinates with a chart
//! for each value.
//!
//! The coordinate with the most numbers runs along x. The compared coordinates (the mode, the
//! baseline's coordinate, the JVM) become series. Each combination of the other coordinates gets a
//! chart, and the charts stand beside each other. A row that lacks a coordinate belongs to all of
//! its values: it is a line across, in every chart. Without a coordinate of at least three numbers
//! no line can be drawn, and bars are clearer. Every row is drawn, whatever coordinates it lacks.

mod build;
mod curves;
mod names;
mod plan;

use crate::format::coordinates::mode;
use crate::format::{ScoreRow, grouped};
use crate::harness::{Baseline, Charts};
use crate::statistics::Ratio;
use allotment_report::chart::Chart;
use allotment_report::page::Group;
use build::{bar_chart, line_chart, lines};
pub(super) use curves::latency_charts;
use curves::{Curve, curve_group};
use names::Names;
use plan::{PlaceValue, Roles, spelled};

/// The most charts of one kind, since readers ignore more; the table has all rows.
const MOST_CHARTS: usize = 24;

/// The most bars of a chart with several combinations. A larger chart has the bars of one
/// combination.
const MOST_BARS: usize = 12;

/// A row with its computed values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored<'a> {
    /// The row.
    pub row: &'a ScoreRow,
    /// Its score.
    pub score: f64,
    /// The error of the score; NaN if unknown.
    pub error: f64,
    /// The ratio to the baseline, if the row has one.
    pub ratio: Option<Ratio>,
}

/// The charts of an experiment's rows.
pub(super) fn charts(rows: &[Scored<'_>], wanted: Charts, baseline: Option<&Baseline>) -> Vec<Group> {
    let parts = grouped(rows.iter().map(|&scored| {
        let row = scored.row;
        let own = if wanted.by_mode { mode(row) } else { "" };
        (vec![own, row.jmh_mode.as_str(), row.primary.unit.as_str()], scored)
    }));
    let several = parts.len() > 1;
    let title = |key: &[&str]| match key {
        [_, jmh_mode, _] if several && !wanted.by_mode => way(jmh_mode).to_string(),
        _ => String::new(),
    };
    let drawn = |(key, part): &(Vec<&str>, Vec<Scored<'_>>)| match Curve::of_samples(part) {
        Some(curves) => curve_group(&curves, title(key), baseline),
        None => group(part, title(key), wanted, baseline),
    };
    let groups = parts.iter().map(|part| (part.0[0], drawn(part)));
    if !wanted.by_mode {
        return groups.map(|(_, group)| group).collect();
    }
    // Modes have a chart or two each, and these are put beside each other.
    vec![together("", groups)]
}

/// Named groups as one. The titles of its charts begin with the names.
fn together<'a>(title: &str, groups: impl Iterator<Item = (&'a str, Group)>) -> Group {
    let mut all = Group { title: title.into(), charts: Vec::new(), left_out: 0 };
    for (name, group) in groups {
        all.left_out += group.left_out;
        for mut chart in group.charts {
            chart.title =
                if chart.title.is_empty() { name.into() } else { format!("{name}: {}", chart.title) };
            all.charts.push(chart);
        }
    }
    all
}

/// The first of the charts, and how many are left out.
fn limited(title: String, mut charts: Vec<Chart>) -> Group {
    let left_out = charts.len().saturating_sub(MOST_CHARTS);
    charts.truncate(MOST_CHARTS);
    Group { title, charts, left_out }
}

/// JMH's modes in words.
fn way(jmh_mode: &str) -> &str {
    match jmh_mode {
        "thrpt" => "throughput",
        "avgt" => "average time",
        "sample" => "time of single calls",
        "ss" => "single shots",
        other => other,
    }
}

fn group(rows: &[Scored<'_>], title: String, wanted: Charts, baseline: Option<&Baseline>) -> Group {
    let plain: Vec<&ScoreRow> = rows.iter().map(|scored| scored.row).collect();
    let plan = Roles::of(&plain, wanted, baseline);
    let names = Names::of(&plain, &plan.series, baseline);
    let places = plan.places(rows);
    let unit = rows.first().map_or("", |scored| scored.row.primary.unit.as_str());
    let mut charts = Vec::new();
    match &plan.along {
        Some(along) => {
            let has_others = |place: &[PlaceValue]| {
                rows.iter().any(|s| plan.belongs(s.row, place) && !names.is_baseline(s.row))
            };
            for place in &places {
                let parts = names.parts();
                for (index, part) in parts.iter().enumerate() {
                    let inside = |row: &ScoreRow| plan.belongs(row, place) && part.contains(&names.main(row));
                    let own: Vec<Scored<'_>> = rows.iter().filter(|s| inside(s.row)).copied().collect();
                    let series = lines(&own, &along.name, &names);
                    // The baseline is in all parts. A part with the baseline alone is drawn
                    // elsewhere, or once.
                    let alone =
                        own.iter().all(|s| names.is_baseline(s.row)) && (index > 0 || has_others(place));
                    if !series.is_empty() && !alone {
                        let title = numbered(spelled(&plan.panels, place), index, parts.len());
                        charts.push(line_chart(unit, title, along, series));
                    }
                }
            }
        }
        None => {
            let most = (MOST_BARS / names.all.len().max(1)).max(1);
            for places in places.chunks(most) {
                charts.push(bar_chart(unit, &plan, places, rows, &names));
            }
        }
    }
    limited(title, charts)
}

/// `size = 16 (1 of 2)`, where series are divided among charts.
fn numbered(title: String, index: usize, all: usize) -> String {
    if all > 1 { format!("{title} ({} of {all})", index + 1).trim_start().into() } else { title }
}

#[cfg(test)]
mod tests;
