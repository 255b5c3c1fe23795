//! A document as one page without external files.

use super::{Document, Group, Section, Table};
use crate::chart::{COLOURS_DARK, COLOURS_LIGHT, Chart, STYLE, Scale, legend_swatch, svg};
use askama::Template;

/// The most rows that are shown at once; longer tables are folded.
const MOST_OPEN: usize = 40;

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: &'a str,
    style: &'a str,
    body: &'a str,
}

#[derive(Template)]
#[template(path = "report.html")]
struct Body<'a> {
    title: &'a str,
    document: &'a Document,
}

/// A page without external files: a title, a style sheet, and a body of HTML.
///
/// # Errors
/// None in practice: text is written into memory.
pub fn page(title: &str, style: &str, body: &str) -> anyhow::Result<String> {
    Ok(Page { title, style, body }.render()?)
}

/// The page of a document.
///
/// # Errors
/// None in practice: text is written into memory.
pub fn html(document: &Document, title: &str) -> anyhow::Result<String> {
    page(title, &style(), &Body { title, document }.render()?)
}

/// The style sheet: the palettes, the charts' style, the page's.
fn style() -> String {
    format!(
        ":root{{{COLOURS_LIGHT}}}@media(prefers-color-scheme:dark){{:root{{{COLOURS_DARK}}}}}\n{STYLE}\n{}",
        include_str!("../../templates/report.css")
    )
}

impl Document {
    /// Whether there is an overview: an answer, or several sections to choose from.
    fn has_overview(&self) -> bool {
        self.sections.len() > 1 || self.sections.iter().any(|section| !section.answers.is_empty())
    }
}

impl Section {
    /// The anchor of the section in the page.
    fn anchor(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        self.name.chars().map(plain).collect()
    }

    fn has_charts(&self) -> bool {
        self.groups.iter().any(|group| !group.charts.is_empty())
    }
}

impl Table {
    fn is_short(&self) -> bool {
        self.rows.len() <= MOST_OPEN
    }

    /// `class="n"` for numbers.
    fn class(&self, column: &usize) -> &'static str {
        if self.header.get(*column).is_some_and(|title| title.number) { " class=n" } else { "" }
    }
}

impl Group {
    /// The names of a chart with their looks; empty for bars, which have their names beside them.
    fn legend(&self, chart: &Chart) -> Vec<(String, String)> {
        if matches!(chart.x.scale, Scale::Words(_)) {
            return Vec::new();
        }
        chart.series.iter().map(|series| (series.name.clone(), legend_swatch(series.look))).collect()
    }
}
