//! A page as data, and the two forms in which it is written: HTML in one file, and Markdown.
//!
//! A [`Document`] is sections; a [`Section`] has answers, charts and a table. A caller
//! fills in the data, and no page is written by hand.
//!
//! The page is an askama template. A page is easier to read as a page than as a program that writes
//! one, and askama escapes text from files. The page has no script: charts are SVG, tooltips are
//! SVG titles, and the style sheet provides light and dark.

mod html;
mod markdown;
mod table;

pub use html::{html, page};
pub use markdown::markdown;
pub use table::{Table, Title};

use crate::chart::Chart;

/// The content of a page.
#[derive(Clone, Debug)]
pub struct Document {
    /// The parts of the page, in order.
    pub sections: Vec<Section>,
    /// The summary below the title.
    pub about: String,
    /// The reasons for doubt about the figures, each once.
    pub warnings: Vec<String>,
}

/// A part of a report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The subject: an experiment, or a class of foreign benchmarks.
    pub name: String,
    /// The question that the section answers; `None` for foreign benchmarks.
    pub question: Option<String>,
    /// The answer to the question, a sentence for each part; empty for foreign benchmarks.
    pub answers: Vec<String>,
    /// Further findings from its rows, a sentence each.
    pub verdicts: Vec<String>,
    /// Its charts.
    pub groups: Vec<Group>,
    /// Its scores.
    pub table: Table,
    /// All other counts.
    pub metrics: Option<Table>,
    /// The commands that repeat the measurement; several where rows were measured in several ways.
    pub commands: Vec<String>,
    /// The programs and machines that measured the rows.
    pub origins: Vec<Origin>,
    /// Runs with missing parts, cases that failed, and rows with missing iterations.
    pub incomplete: Vec<String>,
    /// Notes for readers of rows of JVMs.
    pub notes: Vec<String>,
}

/// The program that measured rows, and its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// One line about both.
    pub summary: String,
    /// All that is known of them, one fact each.
    pub details: Vec<String>,
}

/// Charts that belong together: of one unit, with one legend.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The subject of the charts; empty if there is only one group.
    pub title: String,
    /// The charts.
    pub charts: Vec<Chart>,
    /// The number of charts that were left out as too many.
    pub left_out: usize,
}
