//! Builds one chart from its rows: the points, in series, and suitable scales.

use super::Scored;
use super::names::Names;
use super::plan::{Place, Roles, spelled};
use crate::format::coordinates::{Coordinate, number as parsed, value};
use crate::format::phrase::{self, Better};
use crate::format::{ScoreRow, number};
use allotment_report::chart::{Axis, Chart, Point, Scale, Series};
use std::collections::BTreeMap;

fn point(scored: &Scored<'_>, x: f64) -> Point {
    let row = scored.row;
    let ratio = scored.ratio.map(|ratio| format!(" · {}", phrase::ratio_within(&ratio, "×")));
    Point {
        x,
        y: scored.score,
        low: scored.score - scored.error,
        high: scored.score + scored.error,
        label: format!(
            "{}{} {}{}",
            number::score(scored.score),
            match number::error(scored.score, scored.error) {
                error if error.is_empty() => error,
                error => format!(" {error}"),
            },
            row.primary.unit,
            ratio.unwrap_or_default()
        ),
    }
}

/// Series of the points of rows, in the order of their colours.
pub(super) fn series<'a>(
    names: &Names,
    points: impl Iterator<Item = (&'a ScoreRow, Vec<Point>)>,
) -> Vec<Series> {
    let mut found: BTreeMap<(usize, usize, String), Series> = BTreeMap::new();
    for (row, points) in points {
        let (look, name) = (names.look(row), names.whole(row));
        let key = (look.colour, look.dash, name.clone());
        let series = found.entry(key).or_insert(Series { name, look, points: Vec::new() });
        series.points.extend(points);
    }
    found.into_values().collect()
}

pub(super) fn lines(rows: &[Scored<'_>], along: &str, names: &Names) -> Vec<Series> {
    let mut series = series(
        names,
        rows.iter().map(|scored| {
            let x = value(scored.row, along).and_then(|(value, _)| parsed(&value)).unwrap_or(f64::NAN);
            (scored.row, vec![point(scored, x)])
        }),
    );
    series.iter_mut().for_each(|one| one.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    series
}

pub(super) fn line_chart(unit: &str, title: String, along: &Coordinate, series: Vec<Series>) -> Chart {
    let values = along.numbers().unwrap_or_default();
    let labels = along.values.iter().map(|(_, label)| label.clone());
    let ticks = values.iter().copied().zip(labels).collect();
    Chart {
        title,
        x: Axis { label: along.name.clone(), scale: x_scale(&values) },
        ticks,
        y: Axis { label: y_label(unit), scale: y_scale(&series, 30.0) },
        series,
    }
}

pub(super) fn bar_chart(
    unit: &str,
    plan: &Roles,
    places: &[Place],
    rows: &[Scored<'_>],
    names: &Names,
) -> Chart {
    let words: Vec<String> = places.iter().map(|place| spelled(&plan.panels, place)).collect();
    let mut series: Vec<Series> = Vec::new();
    for (index, place) in places.iter().enumerate() {
        for scored in rows.iter().filter(|scored| plan.belongs(scored.row, place)) {
            let (look, name) = (names.look(scored.row), names.whole(scored.row));
            let point = point(scored, index as f64);
            match series.iter_mut().find(|known| known.name == name) {
                Some(known) => known.points.push(point),
                None => series.push(Series { name, look, points: vec![point] }),
            }
        }
    }
    let title = match words.as_slice() {
        [only] => only.clone(),
        _ => String::new(),
    };
    let y = Axis { label: y_label(unit), scale: y_scale(&series, 60.0) };
    Chart {
        title,
        x: Axis { label: String::new(), scale: Scale::Words(words) },
        ticks: Vec::new(),
        y,
        series,
    }
}

fn y_label(unit: &str) -> String {
    let better = match Better::of(unit) {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    format!("{unit}, {better}")
}

/// Logarithmic where values double or span a wide range.
fn x_scale(values: &[f64]) -> Scale {
    let doubling = values.windows(2).all(|pair| pair[1] >= pair[0] * 1.9);
    let wide = match (values.first(), values.last()) {
        (Some(first), Some(last)) => *first > 0.0 && (doubling || last / first >= 8.0),
        _ => false,
    };
    if wide && values.len() > 1 { Scale::Log } else { Scale::Linear }
}

/// Logarithmic where the largest score is more than `most` times the least.
fn y_scale(series: &[Series], most: f64) -> Scale {
    let values = || series.iter().flat_map(|one| &one.points).map(|point| point.y).filter(|y| y.is_finite());
    let (low, high) = phrase::range(values());
    if low > 0.0 && high / low > most { Scale::Log } else { Scale::Linear }
}
