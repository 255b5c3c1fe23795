//! Finds a message about buffers in a line, and the text before it.
//!
//! HotSpot writes decorations, the number of the collection, and the message. Before them may stand
//! the prefix of a log collector, or output of the program without an end of line.
//!
//! Refused: a reader for each such prefix. Their number has no limit, and a message is found
//! without knowing any.

use super::line::{is_cut_prefix, is_message};
use super::tokens::Tokens;

/// A message about buffers, and the text before it in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed<'a> {
    /// The text before everything that HotSpot wrote.
    pub(super) prefix: &'a [u8],
    /// `[0.5s][trace][gc,tlab]`; empty if there are none.
    pub(super) decorations: &'a [u8],
    /// The number of the collection: `GC(7)`.
    pub(super) number: Option<u64>,
    /// The message, from its first word to the line's end.
    pub(super) message: &'a [u8],
}

impl Placed<'_> {
    /// Whether unified logging (JDK 9 and later) wrote it, as far as the line shows.
    pub(super) fn is_decorated(&self) -> bool {
        !self.decorations.is_empty() || self.number.is_some()
    }

    /// Whether the message is within a JSON string, as some log collectors wrap lines.
    pub(super) fn is_in_json(&self) -> bool {
        self.prefix.ends_with(b"\"") || self.prefix.windows(2).any(|pair| pair == b"{\"")
    }
}

/// The first words of such messages.
const WORDS: [&[u8]; 2] = [b"TLAB", b"ThreadLocalAllocBuffer::"];

/// The message of a line and the text before it, if the message may be about buffers. The search
/// finds the message, and the text before it is read from there to the left, since log collectors
/// and other threads leave any text there.
pub(super) fn placed(line: &[u8]) -> Option<Placed<'_>> {
    let (mut at, mut first) = (0, None);
    let message = loop {
        let word = |rest: &[u8]| WORDS.iter().any(|word| rest.starts_with(word));
        let Some(found) = (at..line.len()).find(|from| line[*from] == b'T' && word(&line[*from..])) else {
            // No message begins completely here, but one may be cut within its beginning.
            break first?;
        };
        if is_message(&line[found..]) {
            break found;
        }
        if is_cut_prefix(&line[found..]) {
            first = Some(found);
        }
        at = found + 1;
    };
    let mut before = line[..message].trim_ascii_end();
    // Generations of ZGC.
    if let [rest @ .., b'y' | b'Y' | b'o' | b'O', b':'] = before {
        before = rest.trim_ascii_end();
    }
    let mut number = None;
    if let [rest @ .., b')'] = before
        && let Some(from) = rest.iter().rposition(|byte| !byte.is_ascii_digit())
        && rest[..=from].ends_with(b"GC(")
    {
        number = Tokens::new(&rest[from + 1..]).next().map(|digits| digits.whole);
        before = rest[..from + 1 - b"GC(".len()].trim_ascii_end();
    }
    let end = before.len();
    let mut from = end;
    while let [rest @ .., b']'] = &before[..from] {
        let Some(open) = rest.iter().rposition(|byte| matches!(byte, b'[' | b']')) else { break };
        if rest[open] == b']' || !is_decoration(&rest[open + 1..]) {
            break;
        }
        from = open;
    }
    Some(Placed { prefix: &line[..from], decorations: &line[from..end], number, message: &line[message..] })
}

/// A decoration in brackets has blanks at its end only. Sizes of generations, which JDK 8 writes in
/// brackets, have blanks within.
fn is_decoration(text: &[u8]) -> bool {
    !text.trim_ascii_end().contains(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "TLAB: fill thread: 0x1 [id: 2] refills: 1";

    #[test]
    fn messages_are_found_after_any_prefix() {
        let decorations = "[0.5s][trace][gc,tlab     ]";
        for prefix in [
            "",
            "web-1  | ",
            "Jan 01 00:00:00 host java[123]: ",
            "<30>1 2024-01-01T00:00:00.000Z host java 1 - [x@1 a=\"b]\"] ",
            "2024-01-01T00:00:00.0000000Z ",
            "[12345.678901] host java[1]: ",
            "[pod/web-5s/java] ",
            "progress: 5 % of the TLAB: all... ",
            "\u{feff}",
        ] {
            for (number, text) in [(None, ""), (Some(7), "GC(7) "), (Some(7), "GC(7) y: ")] {
                let line = format!("{prefix}{decorations} {text}{MESSAGE}");
                let placed = placed(line.as_bytes()).unwrap();
                let found = (std::str::from_utf8(placed.message), placed.number, placed.is_decorated());
                assert_eq!(found, (Ok(MESSAGE), number, true), "{line}");
                assert!(placed.decorations.ends_with(decorations.as_bytes()), "{line}");
            }
        }
    }

    #[test]
    fn what_is_not_decorated_is_told_from_what_is() {
        for line in ["", "0.1: [GC (Allocation Failure) ", "[PSYoungGen: 10K->2K(30K)]"] {
            let line = format!("{line}{MESSAGE}");
            let placed = placed(line.as_bytes()).unwrap();
            assert!(!placed.is_decorated() && placed.message == MESSAGE.as_bytes(), "{line}");
        }
        for line in ["", "GC(5)", "[unclosed", "GC() TLA", "[0.1s][gc] GC(5) Pause Young"] {
            assert_eq!(placed(line.as_bytes()), None, "{line}");
        }
        let huge = format!("GC(99999999999999999999999) {MESSAGE}");
        assert_eq!(placed(huge.as_bytes()).unwrap().number, Some(u64::MAX));
    }
}
