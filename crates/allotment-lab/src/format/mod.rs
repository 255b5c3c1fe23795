//! Results and the ways to write them: a table for people, JSON for JMH's viewers, CSV for
//! spreadsheets.
//!
//! Plain data goes in, and text comes out: this module does not measure, and knows no experiment.
//! The JSON and CSV files have exactly JMH's fields in JMH's order. So viewers and scripts written
//! for JMH read them, and a file of a Java run can be compared with one of the lab's.
//!
//! Refused: a format of this project's own. It might be richer, but would have neither advantage.

pub mod answer;
mod columns;
pub mod coordinates;
pub mod csv;
pub mod json;
mod origin;
mod read;
mod result;
mod table;

pub(crate) use columns::Columns;
pub use origin::Origin;
pub use read::{Entry, ReadError, read_json};
#[cfg(test)]
pub(crate) use result::examples;
pub use result::{Combine, Metric, Parameter, Report, Samples, ScoreRow};
pub use table::{Comparison, text_table};

// What all commands share has one name here, with the formats of results.
pub use allotment_report::format::{
    FilesError, Input, InputError, Layout, OutputError, OutputFile, check_directory, check_files,
    check_printed_files, distinct, grouped, named_files, number, phrase, printable, read_text, suggest, time,
    told, width,
};
