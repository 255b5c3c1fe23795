//! Finds a message about buffers in a line, and the text before it.
//!
//! HotSpot writes decorations, the number of the collection, and the message. Before them may stand
//! the prefix of a log collector, or output of the program without an end of line.
//!
//! Refused: a reader for each such prefix. Their number has no limit, and a message is found
//! without knowing any.

use super::line::{is_cut_prefix, is_message};

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

impl<'a> Placed<'a> {
    /// Whether unified logging (JDK 9 and later) wrote it, as far as the line shows.
    pub(super) fn is_decorated(&self) -> bool {
        !self.decorations.is_empty() || self.number.is_some()
    }

    /// Whether the message is within a JSON string, as some log collectors wrap lines.
    pub(super) fn is_in_json(&self) -> bool {
        self.prefix.ends_with(b"\"") || self.prefix.windows(2).any(|pair| pair == b"{\"")
    }

    /// The origin of the line, where a log collector names it: Compose's `web-1  | `, kubectl's
    /// `[pod/web/java] `, or a process as syslog and the journal write it, `Jan 01 00:00:00 host
    /// java[123]: `. Otherwise empty.
    pub(super) fn source(&self) -> &'a [u8] {
        let prefix = self.prefix.trim_ascii();
        let name = |text: &'a [u8]| {
            let is = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-@/".contains(byte);
            if text.iter().all(is) { text } else { b"" }
        };
        if let [before @ .., b'|'] = prefix {
            return name(before.trim_ascii());
        }
        if prefix.starts_with(b"[pod/")
            && let Some(end) = prefix.iter().position(|byte| *byte == b']')
        {
            return &prefix[1..end];
        }
        let process = prefix.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
        let id = process.strip_suffix(b"]:").and_then(|text| {
            let open = text.iter().position(|byte| *byte == b'[')?;
            (!name(&text[..open]).is_empty()).then_some(&text[open + 1..])
        });
        // A process by its number, or in Heroku's form: `app[web.1]:`.
        let is = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_lowercase() || *byte == b'.';
        let has_digit = |id: &[u8]| id.iter().any(u8::is_ascii_digit);
        if id.is_some_and(|id| has_digit(id) && id.iter().all(is)) { process } else { b"" }
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
        number = whole_number(&rest[from + 1..]);
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

fn whole_number(digits: &[u8]) -> Option<u64> {
    let is = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    is.then(|| digits.iter().fold(0, add))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = "TLAB: fill thread: 0x1 [id: 2] refills: 1";

    #[test]
    fn messages_are_found_behind_any_prefix() {
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
    fn whose_a_line_is() {
        for (prefix, source) in [
            ("web-1  | ", "web-1"),
            ("web.1.xyz@node-1    | ", "web.1.xyz@node-1"),
            ("2024-01-01T00:00:00+00:00 app[web.1]: ", "app[web.1]:"),
            ("[pod/web-5s/java] ", "pod/web-5s/java"),
            ("Jan 01 00:00:00 host java[123]: ", "java[123]:"),
            ("2024-01-01T00:00:00Z ", ""),
            ("some text ", ""),
            ("10 % |", ""),
            ("|", ""),
            ("list[i]: ", ""),
            ("[1]: ", ""),
            ("", ""),
        ] {
            let line = format!("{prefix}[0.5s][gc,tlab] {MESSAGE}");
            assert_eq!(placed(line.as_bytes()).unwrap().source(), source.as_bytes(), "{line}");
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
