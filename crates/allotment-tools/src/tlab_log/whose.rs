//! The origin of a line, by an unknown prefix: the rest of the prefix without its dates.
//!
//! A log collector writes its prefix before every line, and a different one for each JVM. So a
//! conclusion needs three conditions: nearly all lines have a prefix, there are few different
//! prefixes, and they alternate. Output of a program before some lines fails the first condition,
//! and a line counter fails the second.
//!
//! Refused: a list of the collectors' formats. Their number has no limit.

use std::collections::BTreeSet;

/// The most names that are kept. A log with more has a prefix that changes with each line.
const MOST_NAMES: usize = 64;

/// The number of returns to a name that shows mixed lines. A program or a user may return to a name
/// fewer times by chance.
const MOST_RETURNS: u64 = 3;

/// The prefixes of a log.
#[derive(Clone, Debug, Default)]
pub(super) struct Prefixes {
    lines: u64,
    named: u64,
    last: Vec<u8>,
    names: BTreeSet<Vec<u8>>,
    returns: u64,
    are_many: bool,
}

impl Prefixes {
    /// Takes in the text before a line that is HotSpot's.
    pub(super) fn line(&mut self, prefix: &[u8]) {
        self.lines += 1;
        if self.are_many || prefix.is_empty() {
            return;
        }
        let name = undated(prefix);
        if name.is_empty() {
            return;
        }
        self.named += 1;
        if name == self.last {
            return;
        }
        if self.names.contains(&name) {
            self.returns += 1;
        } else {
            self.names.insert(name.clone());
            self.are_many = self.names.len() > MOST_NAMES;
        }
        self.last = name;
    }

    /// The number of JVMs with mixed lines; `None` without a sign of mixing.
    pub(super) fn mixed(&self) -> Option<usize> {
        let nearly_all = self.named >= self.lines / 10 * 9;
        let are = !self.are_many && self.returns >= MOST_RETURNS && nearly_all;
        are.then_some(self.names.len())
    }
}

/// The words of a prefix except dates, line numbers and levels.
fn undated(prefix: &[u8]) -> Vec<u8> {
    const PARTS: [&str; 19] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mon", "tue",
        "wed", "thu", "fri", "sat", "sun",
    ];
    const LEVELS: [&str; 7] = ["trace", "debug", "info", "notice", "warn", "warning", "error"];
    let mut name = Vec::new();
    let mut after_month = false;
    for word in prefix.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        // Syslog's priority, which may contain the line's level.
        let priority = word.strip_prefix(b"<").and_then(|rest| {
            let end = rest.iter().position(|byte| *byte == b'>')?;
            rest[..end].iter().all(u8::is_ascii_digit).then(|| &rest[end + 1..])
        });
        let word = priority.unwrap_or(word);
        let letters: String =
            word.iter().filter(|byte| byte.is_ascii_alphabetic()).map(|&byte| char::from(byte)).collect();
        let letters = letters.to_ascii_lowercase();
        let is_month = PARTS.contains(&letters.as_str()) && word.len() <= letters.len() + 1;
        let is_level = LEVELS.contains(&letters.as_str());
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        let of_date = |byte: &u8| byte.is_ascii_digit() || b"-:.,+/TZ[]()".contains(byte);
        let is_plain = digits == word.len();
        let is_date = digits > 0 && word.iter().all(of_date) && (!is_plain || digits >= 9 || after_month);
        after_month = is_month;
        if !(is_month || is_level || is_date || word.is_empty()) {
            name.extend_from_slice(word);
            name.push(b' ');
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_without_its_dates_is_a_name() {
        for (prefix, name) in [
            ("web-5d8f7-1 java ", "web-5d8f7-1 java "),
            ("Jan  1 00:00:00 host1 java: ", "host1 java: "),
            ("<30>1 2024-01-01T00:00:00Z host java 17 - - ", "1 host java 17 - - "),
            ("2024-01-01T00:00:00Z {pod=\"p1\"} ", "{pod=\"p1\"} "),
            ("job1\tRun\t2024-01-01T00:00:00.0000000Z ", "job1 Run "),
            ("tlab1.log:", "tlab1.log: "),
            ("  17: ", ""),
            ("[12345.678901] INFO ", ""),
            ("1704067200 ", ""),
        ] {
            assert_eq!(String::from_utf8(undated(prefix.as_bytes())).unwrap(), name, "{prefix}");
        }
    }

    #[test]
    fn only_prefixes_that_take_turns_before_nearly_all_lines_are_names() {
        let mixed = |lines: &[&str]| {
            let mut prefixes = Prefixes::default();
            (0..20).for_each(|_| lines.iter().for_each(|line| prefixes.line(line.as_bytes())));
            prefixes.mixed()
        };
        assert_eq!(mixed(&["a ", "b "]), Some(2));
        assert_eq!(mixed(&["a ", "a "]), None);
        assert_eq!(mixed(&["a ", "", "b ", ""]), None);
        let mut prefixes = Prefixes::default();
        (0..500).for_each(|line| prefixes.line(format!("x{} ", line % 100).as_bytes()));
        assert_eq!(prefixes.mixed(), None);
    }
}
