//! A chart of bars: scores of values without an order. Each bar lies below its name and value, so
//! that names may be long and the page narrow.
//!
//! Where values differ by more than bars can show, the chart has points on a logarithmic axis
//! instead. The length of a bar without a zero would mean nothing.

use super::scale::{Range, short};
use super::text::{CHARACTER, ENDING, LINE, TITLE, WIDTH, below, text, width, wrapped};
use super::{Chart, Point, Scale, Series, marks};
use std::fmt::Write;

/// Height of a bar.
const BAR: f64 = 7.0;

/// Draws the bars below `top`, and returns the bottom edge.
pub(super) fn draw(out: &mut String, chart: &Chart, top: f64) -> f64 {
    let Scale::Words(words) = &chart.x.scale else { return top };
    let log = chart.y.scale == Scale::Log;
    let range = Range::of(&chart.y.scale, chart.extent().into_iter());
    let range = if log { range.rounded() } else { range };
    text(out, 0.0, top + 10.0, "", &chart.y.title());
    let mut y = top + LINE + 4.0;
    // A group for each series, even if its bars lie apart.
    let mut groups: Vec<String> = chart.series.iter().map(marks::group).collect();
    let first = y;
    for (index, word) in words.iter().enumerate() {
        if words.len() > 1 {
            for line in wrapped(word, WIDTH / 7.4) {
                y += LINE;
                text(out, 0.0, y, TITLE, &line);
            }
            y += 5.0;
        }
        for (series, group) in chart.series.iter().zip(&mut groups) {
            for point in series.points.iter().filter(|point| point.x == index as f64) {
                y = bar(group, series, point, &range, log, y);
            }
        }
        y += 5.0;
    }
    if log {
        y = axis(out, &range, first, y);
    }
    for group in groups {
        out.push_str(&group);
        out.push_str("</g>");
    }
    y + 2.0
}

/// The position of a value within the width, less the room for a marker.
fn place(range: &Range, value: f64) -> f64 {
    5.0 + range.place(value) * (WIDTH - 14.0)
}

/// Draws a bar with its name and value above it, and returns the bottom edge.
fn bar(out: &mut String, series: &Series, point: &Point, range: &Range, log: bool, top: f64) -> f64 {
    let mut y = top;
    let names = wrapped(&series.name, (WIDTH - width(&point.label) - 10.0) / CHARACTER);
    for (index, line) in names.iter().enumerate() {
        y += LINE;
        text(out, 0.0, y - 3.0, " class=\"name\"", line);
        if index == 0 {
            text(out, WIDTH, y - 3.0, ENDING, &point.label);
        }
    }
    let middle = y + BAR / 2.0;
    let tooltip = marks::tooltip(series, point);
    let finite = if point.y.is_finite() { point.y } else { 0.0 };
    if log {
        let _ = write!(out, "<path class=\"grid\" d=\"M0 {middle:.1}H{WIDTH}\"/>");
        error(out, point, range, middle);
        marks::marker(out, series.look, place(range, finite), middle, &tooltip);
    } else {
        let (zero, end) = (place(range, 0.0), place(range, finite));
        let class = if series.look.dash == 0 { "bar" } else { "bar hollow" };
        let _ = write!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{BAR}\">{tooltip}</rect>",
            zero.min(end),
            (end - zero).abs().max(0.5)
        );
        error(out, point, range, middle);
    }
    y + BAR + 7.0
}

fn error(out: &mut String, point: &Point, range: &Range, middle: f64) {
    if !point.has_error() {
        return;
    }
    let (low, high) = (place(range, point.low), place(range, point.high));
    let _ = write!(out, "<path class=\"err\" d=\"M{low:.1} {middle:.1}H{high:.1}");
    for (end, at) in [(point.low, low), (point.high, high)] {
        // The end of an interval that leaves the chart is not drawn.
        if range.shows(end) {
            let _ = write!(out, "M{at:.1} {:.1}v5", middle - 2.5);
        }
    }
    out.push_str("\"/>");
}

/// Draws the lines and numbers of a logarithmic axis below all points, and returns the bottom edge.
fn axis(out: &mut String, range: &Range, top: f64, bottom: f64) -> f64 {
    let ticks: Vec<(f64, String)> =
        range.ticks().into_iter().map(|tick| (place(range, tick), short(tick))).collect();
    for (at, _) in &ticks {
        let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
    }
    below(out, &ticks, bottom + LINE - 2.0);
    bottom + LINE
}
