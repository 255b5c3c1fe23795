//! Text for a terminal: control characters are written as escapes.
//!
//! Names of files, benchmarks and threads come from other programs. A control character in a name
//! could colour the following text, rename the window or hide a line. So all output of a command is
//! escaped here, at the place where it is printed.
//!
//! Refused: escaping each name where it is read. A name would be forgotten, and a file must be opened
//! by its true name.

use std::borrow::Cow;

/// The text with control characters as `\u{1b}`, except ends of lines and tabs. Marks that reverse
/// the direction of writing are escaped too, since they hide the text before them.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(commands) {
        return text.into();
    }
    let shown = |c: char| if commands(c) { c.escape_unicode().to_string() } else { c.into() };
    text.chars().map(shown).collect::<String>().into()
}

/// Whether a terminal obeys the character instead of showing it.
fn commands(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && !matches!(c, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        let plain = "a\tb\nc \u{e9} \u{2265}";
        assert_eq!(printable(plain), plain);
        assert_eq!(printable("\x1b[31mred\r\u{9b}\u{7f}"), "\\u{1b}[31mred\\u{d}\\u{9b}\\u{7f}");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
    }
}
