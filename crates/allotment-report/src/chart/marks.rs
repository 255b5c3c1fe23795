//! Markers and lines of series: colour, shape and dash.

use super::text::escape;
use super::{Look, Point, Series};
use std::fmt::Write;

/// The class that gives a series its colour.
pub(super) fn colour(look: Look) -> String {
    match look.colour {
        0 => "ink".into(),
        colour => format!("c{}", (colour - 1) % super::COLOURS + 1),
    }
}

/// The beginning of a series' group, which ends with `</g>`.
pub(super) fn group(series: &Series) -> String {
    format!("<g class=\"series {}\" data-name=\"{}\">", colour(series.look), escape(&series.name))
}

/// The tooltip of a point.
pub(super) fn tooltip(series: &Series, point: &Point) -> String {
    format!("<title>{}: {}</title>", escape(&series.name), escape(&point.label))
}

/// The dash attribute of a series' line, with a blank before it if there is one.
pub(super) const fn dash(look: Look) -> &'static str {
    match look.dash {
        0 => "",
        1 => " stroke-dasharray=\"6 3\"",
        2 => " stroke-dasharray=\"2 3\"",
        3 => " stroke-dasharray=\"4 1.5 1 1.5\"",
        _ => " stroke-dasharray=\"1 2\"",
    }
}

/// A marker with its centre at (x, y), and `inner` in its element: a shape for each colour, hollow
/// where the line is dashed.
pub(super) fn marker(out: &mut String, look: Look, x: f64, y: f64, inner: &str) {
    let class = if look.dash == 0 { "m" } else { "m hollow" };
    let shape = look.colour % (super::COLOURS + 1);
    let _ = match shape {
        0 => write!(out, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\">{inner}</circle>"),
        1 => write!(
            out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"6.2\" height=\"6.2\">{inner}</rect>",
            x - 3.1,
            y - 3.1
        ),
        shape => write!(out, "<path class=\"{class}\" d=\"{}\">{inner}</path>", outline(shape, x, y)),
    };
}

fn outline(shape: usize, x: f64, y: f64) -> String {
    let corners: &[(f64, f64)] = match shape {
        2 => &[(0.0, -4.2), (4.0, 3.0), (-4.0, 3.0)],
        3 => &[(0.0, -4.4), (4.4, 0.0), (0.0, 4.4), (-4.4, 0.0)],
        4 => &[(0.0, 4.2), (4.0, -3.0), (-4.0, -3.0)],
        5 => &[
            (-1.4, -4.0),
            (1.4, -4.0),
            (1.4, -1.4),
            (4.0, -1.4),
            (4.0, 1.4),
            (1.4, 1.4),
            (1.4, 4.0),
            (-1.4, 4.0),
            (-1.4, 1.4),
            (-4.0, 1.4),
            (-4.0, -1.4),
            (-1.4, -1.4),
        ],
        _ => &[(-4.0, -2.0), (0.0, -4.4), (4.0, -2.0), (4.0, 2.4), (0.0, 4.4), (-4.0, 2.4)],
    };
    let mut path = String::new();
    for (index, (dx, dy)) in corners.iter().enumerate() {
        let _ = write!(path, "{}{:.1} {:.1}", if index == 0 { 'M' } else { 'L' }, x + dx, y + dy);
    }
    path + "Z"
}
