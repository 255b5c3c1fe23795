//! Reports: result files as a self-contained page, and as Markdown.
//!
//! | module | content |
//! |---|---|
//! | `document` | rows of all files, by experiment |
//! | `section` | the part of an experiment: charts, verdicts, table, command |
//! | `command_line` | the command that repeats a measurement |
//! | `jvm` | the lab against a JVM, for any experiment |
//! | `choose` | the charts of rows |
//! | `table` | rows as cells |
//! | `changes`, `changes_json` | two files, row by row; as JSON |
//!
//! A document is data of [`allotment_report::page`], which writes it as HTML or Markdown.

mod changes;
mod changes_json;
mod choose;
mod command_line;
mod document;
mod jvm;
mod section;
mod table;

pub use changes::{Changed, Changes, changes};
pub use changes_json::changes_json;
pub use document::{Source, document};
pub use section::{Verdicts, verdicts};

#[cfg(test)]
mod answers_tests;
#[cfg(test)]
mod wild_tests;
