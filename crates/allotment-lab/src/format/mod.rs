//! Results and the ways to write them: a table for people, JSON for JMH's viewers, CSV for
//! spreadsheets. Also the reader of files that other programs wrote.
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
pub mod input;
pub mod json;
mod json_lines;
mod layout;
pub mod number;
mod origin;
mod output;
pub mod phrase;
mod printable;
mod read;
mod result;
pub mod suggest;
mod table;
pub mod time;
mod told;
pub mod width;

pub(crate) use columns::Columns;
pub use input::{Input, InputError, binary, open_binary, read_text};
pub(crate) use layout::Layout;
pub use origin::Origin;
pub use output::{
    FilesError, OutputError, OutputFile, check_directory, check_files, check_printed_files, named_files,
};
pub use printable::printable;
pub use read::{Entry, ReadError, read_json, read_json_bytes};
#[cfg(test)]
pub(crate) use result::examples;
pub use result::{Combine, Metric, Parameter, Report, Samples, ScoreRow};
pub use table::{Comparison, text_table};
pub use told::told;
