//! Charts: what is to be seen, apart from how it is drawn.
//!
//! A [`Chart`] is points with errors in named series along one axis; [`choose`] makes charts of rows, [`svg`]
//! draws them. The drawing is an SVG writer of our own and not plotters': text stays text (it can be searched,
//! and has the page's font and size), colours are names that a style sheet fills in for light and dark, and a
//! point can carry the words that a pointer shows. plotters' SVG back end places each glyph run and writes
//! colours as numbers.

mod bars;
pub mod choose;
mod lines;
mod marks;
mod names;
mod scale;
mod svg;
mod text;

pub use svg::{COLOURS_DARK, COLOURS_LIGHT, STYLE, legend_swatch, standalone, svg};

/// What the axis of a chart means.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it counts, with the unit.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
}

/// How values lie on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By their logarithms.
    Log,
    /// One after the other: the value is an index into these words.
    Words(Vec<String>),
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What tells it from its neighbours.
    pub title: String,
    /// Along which points lie. With [`Scale::Words`] bars are drawn, otherwise lines.
    pub x: Axis,
    /// Values that occur on the x axis and how they are written; empty where ticks are chosen by the axis.
    pub ticks: Vec<(f64, String)>,
    /// What is measured.
    pub y: Axis,
    /// What is compared.
    pub series: Vec<Series>,
}

/// Points that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// How it is told from others.
    pub look: Look,
    /// The points, by x.
    pub points: Vec<Point>,
}

/// Colour, marker and dash, so that none of them is needed to tell two series apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// 0 is the ink of the text and for what others are compared with; from 1 on colours.
    pub colour: usize,
    /// 0 is a full line with full markers; from 1 on dashes with hollow ones: other machines' rows.
    pub dash: usize,
}

/// A score.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Where on the x axis; NaN for a score that holds along all of it.
    pub x: f64,
    /// The score.
    pub y: f64,
    /// Lower end of its interval; NaN if unknown.
    pub low: f64,
    /// Upper end; NaN like `low`.
    pub high: f64,
    /// The score in words.
    pub label: String,
}

impl Axis {
    /// The label, with the word that tells equal distances from equal factors: charts of both kinds stand side by side.
    pub(super) fn title(&self) -> String {
        match self.scale {
            Scale::Log if self.label.is_empty() => "logarithmic".into(),
            Scale::Log => format!("{}, logarithmic", self.label),
            Scale::Linear | Scale::Words(_) => self.label.clone(),
        }
    }
}

impl Chart {
    /// What the axis of scores must show: the scores, and of their intervals as much as leaves the scores most of the
    /// room. An interval can be many times as long as all scores are high; then its end is not in the chart.
    fn extent(&self) -> Vec<f64> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let finite = || points().map(|point| point.y).filter(|y| y.is_finite());
        let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(0.0, f64::max));
        let (floor, ceiling) = match self.y.scale {
            Scale::Log => (least / 3.0, most * 3.0),
            Scale::Linear | Scale::Words(_) => (least.min(0.0), most * 1.6),
        };
        let with_error = points().filter(|point| point.has_error());
        let ends = with_error.flat_map(|point| [point.low.max(floor), point.high.min(ceiling)]);
        finite().chain(ends).collect()
    }
}

impl Point {
    /// Whether there is an interval to draw.
    fn has_error(&self) -> bool {
        self.low.is_finite() && self.high.is_finite() && self.low < self.high
    }
}

/// Colours besides the ink: the colour-blind-safe palette of Okabe and Ito ("Color Universal Design", 2008)
/// without black, which is the ink.
pub const COLOURS: usize = 6;
