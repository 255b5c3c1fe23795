//! A document as one page without external files.

use super::chart::choose::Group;
use super::chart::{Chart, Look, STYLE, legend_swatch, svg};
use super::{Document, Section, Table};
use crate::format::Origin;
use askama::Template;

/// The most rows that are shown at once; longer tables are folded.
const MOST_OPEN: usize = 40;

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: &'a str,
    style: String,
    document: &'a Document,
}

/// The page.
///
/// # Errors
/// None in practice: text is written into memory.
pub fn html(document: &Document, title: &str) -> anyhow::Result<String> {
    Ok(Page { title, style: style(), document }.render()?)
}

/// The style sheet: the palettes, the charts' style, the page's.
fn style() -> String {
    use super::chart::{COLOURS_DARK, COLOURS_LIGHT};
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
        if matches!(chart.x.scale, super::chart::Scale::Words(_)) {
            return Vec::new();
        }
        chart.series.iter().map(|series| (series.name.clone(), swatch(series.look))).collect()
    }
}

fn swatch(look: Look) -> String {
    legend_swatch(look)
}

fn drawn(chart: &Chart) -> String {
    svg(chart)
}

impl Origin {
    /// One line about the program that measured, and its machine.
    pub(super) fn summary(&self) -> String {
        let join = |parts: &[&str]| {
            parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join(", ")
        };
        if !self.is_ours() {
            let version = if self.jdk_version.is_empty() { &self.vm_version } else { &self.jdk_version };
            let machine = if self.vm_name.is_empty() { "an unnamed program" } else { &self.vm_name };
            let flags = self.arguments.join(" ");
            return join(&[&format!("{machine} {version}"), &flags]).replace(" ,", ",");
        }
        let fact = |name: &str| self.fact(name).unwrap_or_default().to_string();
        let cache = |name: &str| {
            let size = fact(name);
            let size = size.split(',').next().unwrap_or_default();
            if size.is_empty() { String::new() } else { format!("{name} {size}") }
        };
        let kernel = fact("kernel");
        let kernel = if kernel.is_empty() { kernel } else { format!("Linux {kernel}") };
        join(&[
            &format!("allotment {}", self.vm_version),
            &fact("processor"),
            &if fact("CPUs").is_empty() { String::new() } else { format!("CPUs: {}", fact("CPUs")) },
            &cache("L2"),
            &cache("L3"),
            &kernel,
        ])
    }
}
