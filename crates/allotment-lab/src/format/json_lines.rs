//! The lines of a JSON file: an indented line for each value, but one line for each histogram.
//!
//! A distribution has some hundred pairs. With a line for each number and each bracket, as for all
//! else, a file would be five times as long, and nobody reads those lines.

use serde_json::ser::{Formatter, PrettyFormatter};
use std::io::{self, Write};

/// Arrays within so many others are written in one line. In a result file: the results, their
/// histograms by fork, and those by iteration.
const MOST: usize = 3;

/// Writes JSON indented by four blanks, with deep arrays in one line each.
pub(super) struct Lines<'a> {
    pretty: PrettyFormatter<'a>,
    /// Arrays that are open.
    arrays: usize,
}

impl Lines<'_> {
    pub(super) fn new() -> Lines<'static> {
        Lines { pretty: PrettyFormatter::with_indent(b"    "), arrays: 0 }
    }

    fn is_deep(&self) -> bool {
        self.arrays > MOST
    }
}

impl Formatter for Lines<'_> {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.arrays += 1;
        if self.is_deep() { writer.write_all(b"[") } else { self.pretty.begin_array(writer) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let deep = self.is_deep();
        self.arrays -= 1;
        if deep { writer.write_all(b"]") } else { self.pretty.end_array(writer) }
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.is_deep(), first) {
            (true, true) => Ok(()),
            (true, false) => writer.write_all(b", "),
            (false, _) => self.pretty.begin_array_value(writer, first),
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Serialize;
    use serde_json::{Value, json};

    #[test]
    fn deep_arrays_have_one_line_and_all_else_is_indented() {
        let value = json!([{ "a": [[[[1, 2], [3, 4]], []]], "b": [1, 2], "c": [] }]);
        let mut text = Vec::new();
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut text, Lines::new())).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert!(lines.contains(&"[[1, 2], [3, 4]],"), "{text}");
        assert!(text.contains("\"b\": [\n            1,\n            2\n        ]"), "{text}");
    }
}
