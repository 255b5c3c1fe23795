//! Standard output: whole texts, without control characters that would reach a terminal.

use super::Failure;
use crate::format::{printable, width};
use std::env;
use std::io::{self, IsTerminal as _, Write as _};

/// Prints a whole text on standard output. Control characters in the text are made visible instead
/// of being sent to the terminal.
///
/// # Errors
/// Standard output is closed or full.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(printable(text).as_bytes())?;
    Ok(output.flush()?)
}

/// Prints lines, in bold on a terminal.
///
/// # Errors
/// Standard output is closed or full.
pub fn print_bold(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    let (begin, end) = bold();
    writeln!(output, "{begin}{}{end}", printable(text.trim_end()))?;
    Ok(output.flush()?)
}

/// The escapes around bold text; empty where standard output is not a terminal, or with `NO_COLOR` or
/// `TERM=dumb`.
pub(super) fn bold() -> (&'static str, &'static str) {
    let is_bold = io::stdout().is_terminal()
        && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && env::var_os("TERM").is_none_or(|value| value != "dumb");
    if is_bold { ("\x1b[1m", "\x1b[0m") } else { ("", "") }
}

/// Lines that are as wide as the output.
pub fn wrapped(text: &str) -> String {
    text.lines().map(|line| width::lines(line, width::of_output()) + "\n").collect()
}
