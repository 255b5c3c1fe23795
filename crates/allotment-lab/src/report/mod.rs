//! Reports: result files as a self-contained page, and as Markdown.
//!
//! | module | content |
//! |---|---|
//! | `document` | rows of all files, by experiment |
//! | `section` | the part of an experiment: charts, verdicts, table, command |
//! | `command_line` | the command that repeats a measurement |
//! | `jvm` | the lab against a JVM, for any experiment |
//! | [`chart`] | charts as data, chosen from rows, drawn as SVG |
//! | `table` | rows as cells |
//! | `tlab_log` | a JVM's log of its TLABs, as a document |
//! | `html`, `markdown` | the two forms of a document |
//! | `changes`, `changes_json` | two files, row by row; as JSON |
//!
//! The page is an askama template. A page is easier to read as a page than as a program that writes
//! one, and askama escapes text from files. The page has no script: charts are SVG, tooltips are
//! SVG titles, and the style sheet provides light and dark.

mod changes;
mod changes_json;
pub mod chart;
mod command_line;
mod document;
mod html;
mod jvm;
mod markdown;
mod section;
mod table;
mod tlab_log;

pub use changes::{Change, Changed, Changes, changes};
pub use changes_json::changes_json;
pub use document::{Document, Source};
pub use html::html;
pub use markdown::markdown;
pub use section::{Section, Verdicts, verdicts};
pub use table::Table;
pub use tlab_log::{NOTHING_TO_REPLAY, lacking_charts, tlab_log_document};

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod wild_tests;
