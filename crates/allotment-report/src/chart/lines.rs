//! A chart of lines: scores along a number, with error bars.

use super::scale::Range;
use super::text::{CENTRED, ENDING, LINE, WIDTH, below, text, width};
use super::{Chart, Point, Series, marks};
use std::fmt::Write;

/// Height of the plot itself.
const PLOT: f64 = 190.0;

/// The distance between the axes' ends and the first and last point.
const PAD: f64 = 12.0;

/// The most points of a series that all have markers. With more points, only the first and the last
/// have one.
const MOST_MARKERS: usize = 40;

/// The mapping from values to positions.
struct Plane {
    x: Range,
    y: Range,
    left: f64,
    right: f64,
    top: f64,
}

impl Plane {
    fn x(&self, value: f64) -> f64 {
        self.left + PAD + self.x.place(value) * (self.right - self.left - 2.0 * PAD)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + (1.0 - self.y.place(value)) * PLOT
    }
}

/// Draws the lines below `top`, and returns the bottom edge.
pub(super) fn draw(out: &mut String, chart: &Chart, top: f64) -> f64 {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let y = Range::of(&chart.y.scale, chart.extent().into_iter()).rounded();
    let ticks = chart.ticks.iter().map(|(tick, _)| *tick);
    let x = Range::between(&chart.x.scale, points().map(|point| point.x).chain(ticks));
    let ticks: Vec<(f64, String)> =
        y.ticks().into_iter().map(|tick| (tick, chart.y.scale.tick(tick))).collect();
    let widest = ticks.iter().map(|(_, text)| width(text)).fold(0.0, f64::max);
    let plane = Plane { x, y, left: widest + 6.0, right: WIDTH - 2.0, top: top + LINE + 6.0 };
    text(out, 0.0, top + 10.0, "", &chart.y.title());
    for (tick, label) in &ticks {
        let at = plane.y(*tick);
        let _ = write!(out, "<path class=\"grid\" d=\"M{:.1} {at:.1}H{:.1}\"/>", plane.left, plane.right);
        text(out, widest, at + 4.0, ENDING, label);
    }
    let bottom = plane.top + PLOT;
    let _ = write!(out, "<path class=\"axis\" d=\"M{:.1} {bottom:.1}H{:.1}\"/>", plane.left, plane.right);
    x_ticks(out, chart, &plane, bottom);
    let middle = (plane.left + plane.right) / 2.0;
    text(out, middle, bottom + 2.0 * LINE + 4.0, CENTRED, &chart.x.title());
    for one in &chart.series {
        series(out, one, &plane);
    }
    bottom + 2.0 * LINE + 10.0
}

/// Draws ticks and their text.
fn x_ticks(out: &mut String, chart: &Chart, plane: &Plane, bottom: f64) {
    let chosen: Vec<(f64, String)> = match chart.ticks.as_slice() {
        [] => plane.x.ticks().into_iter().map(|tick| (tick, chart.x.scale.tick(tick))).collect(),
        given => given.to_vec(),
    };
    let finite = chosen.into_iter().filter(|(tick, _)| tick.is_finite());
    let ticks: Vec<(f64, String)> = finite.map(|(tick, text)| (plane.x(tick), text)).collect();
    for (at, _) in &ticks {
        let _ = write!(out, "<path class=\"axis\" d=\"M{at:.1} {bottom:.1}v4\"/>");
    }
    below(out, &ticks, bottom + LINE + 2.0);
}

fn series(out: &mut String, series: &Series, plane: &Plane) {
    let dash = marks::dash(series.look);
    out.push_str(&marks::group(series));
    let (along, across): (Vec<&Point>, Vec<&Point>) =
        series.points.iter().filter(|point| point.y.is_finite()).partition(|point| point.x.is_finite());
    if !along.is_empty() {
        let _ = write!(out, "<path class=\"line\"{dash} d=\"");
        for (index, point) in along.iter().enumerate() {
            let start = if index == 0 { 'M' } else { 'L' };
            let _ = write!(out, "{start}{:.1} {:.1}", plane.x(point.x), plane.y(point.y));
        }
        out.push_str("\"/>");
    }
    for point in &across {
        let end = plane.right - PAD + 2.0;
        let at = plane.y(point.y);
        let _ = write!(out, "<path class=\"line\"{dash} d=\"M{:.1} {at:.1}H{end:.0}\"/>", plane.left);
    }
    // Markers that touch each other would look like a thick line.
    let last = along.len().saturating_sub(1);
    let marked = along.iter().filter(|point| point.is_marked()).count();
    let crowded = |index: usize| marked > MOST_MARKERS && index != 0 && index < last;
    for (index, point) in along.iter().chain(&across).enumerate() {
        if !point.is_marked() || crowded(index) {
            continue;
        }
        let x = if point.x.is_finite() { plane.x(point.x) } else { plane.right - PAD + 2.0 };
        if point.has_error() {
            let _ = write!(
                out,
                "<path class=\"err\" d=\"M{x:.1} {:.1}V{:.1}",
                plane.y(point.low),
                plane.y(point.high)
            );
            // The end of an interval that leaves the chart is not drawn.
            for end in [point.low, point.high].into_iter().filter(|end| plane.y.shows(*end)) {
                let _ = write!(out, "M{:.1} {:.1}h5", x - 2.5, plane.y(end));
            }
            out.push_str("\"/>");
        }
        marks::marker(out, series.look, x, plane.y(point.y), &marks::tooltip(series, point));
    }
    out.push_str("</g>");
}
