//! Text in charts: its size, its lines, its spelling.
//!
//! All charts are 360 units wide and drawn at about that width, so text has the size of the page's
//! text on a phone too. Only the browser knows the exact width of a text; the estimate here is
//! larger.

use std::fmt::Write;

/// Width of a chart, in its own units.
pub(super) const WIDTH: f64 = 360.0;

/// Height of a line of text.
pub(super) const LINE: f64 = 14.0;

/// The assumed width of a character of small text: as wide as a digit of DejaVu Sans, which is
/// wider than most.
pub(super) const CHARACTER: f64 = 7.1;

/// The approximate width of small text.
pub(super) fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The text in lines of at most `characters` characters, broken at blanks, and within words that
/// are longer.
pub(super) fn wrapped(text: &str, characters: f64) -> Vec<String> {
    let most = (characters as usize).max(4);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        if let Some(line) = lines.last_mut()
            && line.chars().count() + 1 + rest.len() <= most
        {
            line.push(' ');
            line.push_str(word);
            continue;
        }
        while rest.len() > most {
            lines.push(rest.drain(..most).collect());
        }
        lines.push(rest.into_iter().collect());
    }
    lines
}

/// Draws a text. `attributes` has a blank before each attribute.
pub(super) fn text(out: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    let text = escape(text);
    let _ = write!(out, "<text{attributes} x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
}

/// Attributes of a text that is centred at its place.
pub(super) const CENTRED: &str = " text-anchor=\"middle\"";

/// Attributes of a text that ends at its place.
pub(super) const ENDING: &str = " text-anchor=\"end\"";

/// Attributes of a title.
pub(super) const TITLE: &str = " class=\"title\"";

/// Draws the texts of ticks, each centred below its place, but none that would touch the one
/// before.
pub(super) fn below(out: &mut String, ticks: &[(f64, String)], y: f64) {
    let mut free = 0.0;
    for (at, tick) in ticks {
        let half = width(tick) / 2.0;
        // At the edges text is moved inward, so that it is not cut.
        let middle = at.clamp(half, WIDTH - half);
        if middle - half >= free {
            text(out, middle, y, CENTRED, tick);
            free = middle + half + 5.0;
        }
    }
}

/// Text for XML and HTML: characters with a meaning are escaped, and characters that XML forbids
/// are left out.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => {}
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_wrapped() {
        assert_eq!(wrapped("one two three", 7.0), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij k", 4.0), ["abcd", "efgh", "ij k"]);
        assert_eq!(wrapped("", 7.0), [""; 0]);
    }

    proptest! {
        #[test]
        fn wrapping_loses_nothing(text in ".{0,60}", most in 4usize..20) {
            let lines = wrapped(&text, most as f64);
            prop_assert!(lines.iter().all(|line| line.chars().count() <= most));
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(lines.iter().map(|line| bare(line)).collect::<String>(), bare(&text));
        }
    }
}
