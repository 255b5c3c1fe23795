//! The printed manual: every option with its value, origin, range, text and relation to HotSpot.
//!
//! It is HotSpot's `-XX:+PrintFlagsFinal` for people: the same `name = value {origin}`, followed by
//! the facts that PrintFlagsFinal omits. No line is longer than 100 columns.

use std::fmt::{self, Write};

use super::items::OptionKind;
use super::origin::ENVIRONMENT_VARIABLE;
use super::set::{OptionRow, OptionSet};

/// The text before the options.
const PREFACE: &str = "
  +Name           switches an option on, -Name off
  Name=value      gives it a value; a size is a whole number of bytes, or of k, m, g or t (64k)
  Name=default    takes a value back

Items are separated by commas or blanks; HotSpot's -XX: before an item does no harm. A command line
outranks the environment, the environment outranks what the program chose. 0, where it stands
before a range, leaves the choice to the heap. In a path %p stands for the number of the process,
%t for the time (2026-03-01_14-05-09), and %% for a percent sign.
";

/// The manual, with the values and origins of `set`.
#[must_use]
pub fn manual(set: &OptionSet) -> String {
    let mut text =
        format!("Options, as in {ENVIRONMENT_VARIABLE}=\"MaxHeapSize=1g,-ResizeTLAB\":\n{PREFACE}");
    for row in set.rows() {
        write_row(&mut text, &row).expect("a String can always be written to");
    }
    text
}

/// Writes the entry of one option.
fn write_row(text: &mut String, row: &OptionRow) -> fmt::Result {
    let info = row.info;
    writeln!(text, "\n{} = {} {{{}}}", info.name, row.value, row.origin)?;
    writeln!(text, "    {}", info.text)?;
    write!(text, "    {}", info.type_name())?;
    match info.kind {
        OptionKind::Choice(choice) => {
            writeln!(text, ", by default {}", info.default_text())?;
            for (name, meaning) in choice.names {
                writeln!(text, "        {name:<18}  {meaning}")?;
            }
        }
        OptionKind::Switch(_) => writeln!(text, ", by default {}", info.default_text())?,
        _ => writeln!(text, ", {}, by default {}", info.range(), info.default_text())?,
    }
    match (info.hotspot, info.difference) {
        ([], difference) => writeln!(text, "    HotSpot: no such option; {difference}"),
        (names, "") => writeln!(text, "    HotSpot: {}", names.join(", ")),
        (names, difference) => writeln!(text, "    HotSpot: {}; {difference}", names.join(", ")),
    }
}
