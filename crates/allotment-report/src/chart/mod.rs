//! Charts as data, apart from their drawing.
//!
//! A [`Chart`] is points with errors in named series along one axis. [`svg`] draws them.
//!
//! Refused: plotters for the drawing. Its SVG back end places each glyph run and writes colours as
//! numbers. In this project's own SVG writer text stays text, which can be searched and has the
//! page's font and size. Colours are names that a style sheet fills in for light and dark, and a
//! point can carry a tooltip.

mod bars;
mod lines;
mod marks;
mod scale;
mod svg;
mod text;

use crate::format::phrase::time;
use scale::short;
pub use svg::{COLOURS_DARK, COLOURS_LIGHT, STYLE, legend_swatch, standalone, svg};

/// The meaning of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The counted quantity, with the unit.
    pub label: String,
    /// The placement of values on the axis.
    pub scale: Scale,
}

/// The placement of values on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic.
    Log,
    /// Logarithmic, of times in nanoseconds. Ticks are times with their units.
    Time,
    /// The scale of HdrHistogram's plots: the value is `1 / (1 - percentile)`, logarithmic. So 90 %,
    /// 99 % and 99.9 % lie at equal distances.
    Percentile,
    /// One after the other: the value is an index into these words.
    Words(Vec<String>),
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Its title: the difference from the charts beside it.
    pub title: String,
    /// The axis along which points lie. With [`Scale::Words`] bars are drawn, otherwise lines.
    pub x: Axis,
    /// Values on the x axis with their text; empty where the axis chooses its ticks.
    pub ticks: Vec<(f64, String)>,
    /// The measured quantity.
    pub y: Axis,
    /// The compared series.
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The look that distinguishes it from other series.
    pub look: Look,
    /// The points, by x.
    pub points: Vec<Point>,
}

/// Colour, marker and dash. Any one of them is enough to distinguish two series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// 0 is the ink of the text, for the baseline; numbers from 1 on are colours.
    pub colour: usize,
    /// 0 is a full line with full markers. Numbers from 1 on are dashes with hollow markers, for
    /// other machines' rows.
    pub dash: usize,
}

/// A score.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The position on the x axis; NaN for a score that holds along the whole axis.
    pub x: f64,
    /// The score.
    pub y: f64,
    /// Lower end of its interval; NaN if unknown.
    pub low: f64,
    /// Upper end; NaN like `low`.
    pub high: f64,
    /// The score in words. A point without words has no marker: it only leads the line on.
    pub label: String,
}

impl Scale {
    /// Whether equal factors have equal distances.
    fn is_log(&self) -> bool {
        matches!(self, Scale::Log | Scale::Time | Scale::Percentile)
    }

    /// The default text of a tick.
    fn tick(&self, value: f64) -> String {
        if *self == Scale::Time { time(value) } else { short(value) }
    }
}

impl Axis {
    /// The label, with the word that distinguishes equal distances from equal factors, since charts
    /// of both kinds stand side by side.
    pub(super) fn title(&self) -> String {
        match self.scale {
            Scale::Log if self.label.is_empty() => "logarithmic".into(),
            Scale::Log | Scale::Time => format!("{}, logarithmic", self.label),
            Scale::Linear | Scale::Percentile | Scale::Words(_) => self.label.clone(),
        }
    }
}

impl Chart {
    /// The values that the axis of scores must show: the scores, and as much of their intervals as
    /// leaves most of the room to the scores. An interval can be many times longer than the scores
    /// are high; then its end is outside the chart.
    fn extent(&self) -> Vec<f64> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let finite = || points().map(|point| point.y).filter(|y| y.is_finite());
        let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
        let (floor, ceiling) =
            if self.y.scale.is_log() { (least / 3.0, most * 3.0) } else { (least.min(0.0), most * 1.6) };
        let with_error = points().filter(|point| point.has_error());
        let ends = with_error.flat_map(|point| [point.low.max(floor), point.high.min(ceiling)]);
        finite().chain(ends).collect()
    }
}

impl Point {
    /// Whether there is a marker to draw.
    fn is_marked(&self) -> bool {
        !self.label.is_empty()
    }

    /// Whether there is an interval to draw.
    fn has_error(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low < self.high
    }
}

/// Colours besides the ink: the colour-blind-safe palette of Okabe and Ito ("Color Universal
/// Design", 2008) without black, which is the ink.
pub const COLOURS: usize = 6;
