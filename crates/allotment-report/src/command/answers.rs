//! The answers that an output ends with: one sentence each, in bold on a terminal.
//!
//! They come last, since a terminal shows the last lines after a long table. There are no escapes
//! with `NO_COLOR` or `TERM=dumb`, and none in pipes and files.

use super::Failure;
use super::print::bold;
use crate::format::{printable, width};
use std::io::{self, Write};

/// Prints an empty line, and the answers in lines of the width of the output. Prints nothing without
/// answers.
///
/// # Errors
/// Standard output is closed or full.
pub fn print_answers(answers: &[String]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(lines(answers, width::of_output(), bold()).as_bytes())?;
    Ok(output.flush()?)
}

fn lines(answers: &[String], columns: Option<usize>, (begin, end): (&str, &str)) -> String {
    let line = |answer: &String| {
        let text = width::lines(&printable(answer), width::of_sentences(columns));
        format!("{begin}{text}{end}\n")
    };
    let text: String = answers.iter().map(line).collect();
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_bold_on_a_terminal_alone() {
        let answers = ["tlab is 2.00 \u{b1} 0.10 times as fast as cas.".to_string(), "a\x1bb".to_string()];
        let plain = "\ntlab is 2.00 \u{b1} 0.10 times as fast as cas.\na\\u{1b}b\n";
        assert_eq!(lines(&answers, None, ("", "")), plain);
        let bold = lines(&answers, Some(30), ("\x1b[1m", "\x1b[0m"));
        let expected =
            "\n\x1b[1mtlab is 2.00 \u{b1} 0.10 times as\n    fast as cas.\x1b[0m\n\x1b[1ma\\u{1b}b\x1b[0m\n";
        assert_eq!(bold, expected);
        assert_eq!(lines(&[], None, ("\x1b[1m", "\x1b[0m")), "");
    }
}
