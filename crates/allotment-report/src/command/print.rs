//! Standard output: whole texts, without control characters that would reach a terminal.

use super::Failure;
use crate::format::{printable, width};
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
    let (bold, plain) = if output.is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    writeln!(output, "{bold}{}{plain}", printable(text.trim_end()))?;
    Ok(output.flush()?)
}

/// Lines that are as wide as the output.
pub fn wrapped(text: &str) -> String {
    text.lines().map(|line| width::lines(line, width::of_output()) + "\n").collect()
}
