//! How wide a line may be, and text in lines of that width.
//!
//! On a terminal as wide as that is; `COLUMNS` decides where it is set, since a user who sets it means it. Elsewhere (a
//! pipe, a file) sentences and lists for people have `USUAL` columns, as the help has, and tables are as wide as they
//! are: a program that reads them goes by lines. An error stays one line there, for the same reason.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// Columns where nobody says how many there are.
const USUAL: usize = 100;

/// Fewer than this are not believed: a line must hold a word.
const LEAST: usize = 20;

/// Columns of standard output, where they are known.
pub fn of_output() -> Option<usize> {
    asked().or_else(|| of(std::io::stdout()))
}

/// Columns of standard error, where they are known.
pub fn of_errors() -> Option<usize> {
    asked().or_else(|| of(std::io::stderr()))
}

/// Columns for sentences, which nothing but people read.
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

/// A text of one paragraph in lines of at most `columns`, further ones indented; as it is where that is not known. Words
/// that are longer than a line stay whole: half a path is of no use.
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
