//! The width of a line, and text in lines of that width.
//!
//! On a terminal the width is the terminal's. `COLUMNS` decides where it is set, since the user set
//! it on purpose. Elsewhere (a pipe, a file) sentences and lists for people have `USUAL` columns,
//! as the help has. Tables keep their own width there, since a program that reads them goes by
//! lines. An error stays one line there, for the same reason.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// Columns where the width is unknown.
const USUAL: usize = 100;

/// The smallest width that is accepted: a line must hold a word.
const LEAST: usize = 20;

/// Columns of standard output, where they are known.
pub fn of_output() -> Option<usize> {
    asked().or_else(|| of(std::io::stdout()))
}

/// Columns of standard error, where they are known.
pub fn of_errors() -> Option<usize> {
    asked().or_else(|| of(std::io::stderr()))
}

/// Columns for sentences, which only people read.
pub fn of_sentences(known: Option<usize>) -> Option<usize> {
    Some(known.unwrap_or(USUAL))
}

fn asked() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|&columns| columns >= LEAST)
}

fn of(terminal: impl AsFd) -> Option<usize> {
    let columns = usize::from(tcgetwinsize(terminal).ok()?.ws_col);
    (columns >= LEAST).then_some(columns)
}

/// A text of one paragraph in lines of at most `columns`, all but the first indented; unchanged if
/// the width is unknown. Words that are longer than a line stay whole, since half a path is of no
/// use.
pub fn lines(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return text.into() };
    let options = textwrap::Options::new(columns)
        .subsequent_indent("    ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn long_sentences_become_lines() {
        let text = "tlab against cas, 1 thread: 2.90 to 6.41 times as fast";
        assert_eq!(lines(text, None), text);
        assert_eq!(lines(text, Some(30)), "tlab against cas, 1 thread:\n    2.90 to 6.41 times as fast");
        let path = "/a/path/that/is/longer/than/a/line/can/be";
        assert_eq!(lines(&format!("cannot write {path}"), Some(20)), format!("cannot write\n    {path}"));
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(
            words in prop::collection::vec("[a-z0-9.,()-]{1,15}", 0..40), columns in LEAST..120,
        ) {
            let text = words.join(" ");
            let wrapped = lines(&text, Some(columns));
            prop_assert!(wrapped.lines().all(|line| line.chars().count() <= columns), "{}", wrapped);
            prop_assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
