//! The time of a line.
//!
//! There are two clocks: the JVM's, which begins with the JVM, and the calendar's. A line may have
//! both, several of one, or none. The user chooses them (`-Xlog:...::uptime,time`), and a log
//! collector adds its own. Dates become nanoseconds since 1970 in UTC, so that +0200 and +0000
//! compare, even in the hour in which clocks are set back. A date without an offset is ignored,
//! since it does not fix a time.

use super::tokens::Tokens;

/// The times of a line, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Time since the JVM began.
    pub(super) uptime: Option<u64>,
    /// Time since 1970, in UTC.
    pub(super) epoch: Option<u64>,
}

/// The smallest number of milliseconds that is a date (March 1973). Smaller numbers are uptimes (of
/// up to 3 years). The log writes both as `[123ms]`.
const LEAST_DATE_MS: u64 = 100_000_000_000;

impl Stamp {
    /// The times in the decorations before a message:
    /// `[0.123s][2024-01-01T10:00:00.000+0200][gc,tlab]`.
    pub(super) fn of(decorations: &[u8]) -> Stamp {
        let mut stamp = Stamp::default();
        for one in decorations.split(|byte| *byte == b'[').filter_map(|part| part.strip_suffix(b"]")) {
            stamp.add(one.trim_ascii());
        }
        stamp
    }

    fn add(&mut self, decoration: &[u8]) {
        if let Some((ns, rest)) = date(decoration) {
            if rest.is_empty() {
                self.epoch = self.epoch.or(Some(ns));
            }
            return;
        }
        let mut tokens = Tokens::new(decoration);
        let Some(token) = tokens.next().filter(|token| token.label.is_empty()) else { return };
        let (whole, scale) = match token.unit {
            b"s" => (token.whole, 1_000_000_000),
            b"ms" => (token.whole, 1_000_000),
            b"ns" => (token.whole, 1),
            _ => return,
        };
        if tokens.next().is_some() || !decoration.ends_with(token.unit) {
            return;
        }
        // A number that is too large becomes the largest.
        let ns = whole.saturating_mul(scale).saturating_add((token.fraction() * scale as f64).round() as u64);
        if token.unit == b"ms" && whole >= LEAST_DATE_MS {
            self.epoch = self.epoch.or(Some(ns));
        } else {
            // `timenanos` counts from the machine's start, which was before the JVM's.
            self.uptime = Some(self.uptime.map_or(ns, |other| other.min(ns)));
        }
    }

    /// The stamp that JDK 8 writes before a collection: `2024-01-01T10:00:00.000+0200: 0.123: [GC
    /// (Allocation Failure) `, with either of the two or both.
    pub(super) fn of_old_collection(line: &[u8]) -> Option<Stamp> {
        let mut stamp = Stamp::default();
        let mut rest = line;
        if let Some((ns, after)) = date(rest) {
            stamp.epoch = Some(ns);
            rest = after.strip_prefix(b": ")?;
        }
        let digits =
            rest.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',')).count();
        if digits > 0
            && let Some(after) = rest[digits..].strip_prefix(b": ")
        {
            let number = [&rest[..digits], b"s"].concat();
            stamp.add(&number);
            rest = after;
        }
        let is = stamp != Stamp::default() && (rest.starts_with(b"[") || rest.starts_with(b"TLAB"));
        is.then_some(stamp)
    }

    /// The date at the beginning of the text before a message, as log collectors write it.
    pub(super) fn of_prefix(prefix: &[u8]) -> Stamp {
        Stamp { uptime: None, epoch: date(prefix).map(|(ns, _)| ns) }
    }

    /// This stamp, with another's times for clocks that this one lacks.
    pub(super) fn or(self, other: Stamp) -> Stamp {
        Stamp { uptime: self.uptime.or(other.uptime), epoch: self.epoch.or(other.epoch) }
    }
}

/// The date at a text's beginning in ns since 1970 in UTC, and the text after it. `None` without
/// a date, if the date has no offset, or if it is before 1970.
fn date(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    let month = after(&mut rest, b"-").and_then(|()| number(&mut rest, 2))?;
    let day = after(&mut rest, b"-").and_then(|()| number(&mut rest, 2))?;
    after(&mut rest, b"Tt ")?;
    let hour = number(&mut rest, 2)?;
    let minute = after(&mut rest, b":").and_then(|()| number(&mut rest, 2))?;
    let second = after(&mut rest, b":").and_then(|()| number(&mut rest, 2))?;
    let mut ns = 0;
    if after(&mut rest, b".,").is_some() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut place = 100_000_000;
        for digit in &rest[..digits] {
            ns += i64::from(digit - b'0') * place;
            place /= 10;
        }
        rest = &rest[digits..];
    }
    let offset = if after(&mut rest, b"Zz").is_some() {
        0
    } else {
        let sign = if after(&mut rest, b"+").is_some() { 1 } else { after(&mut rest, b"-").map(|()| -1)? };
        let hours = number(&mut rest, 2)?;
        let _ = after(&mut rest, b":");
        sign * (hours * 60 + number(&mut rest, 2)?)
    };
    // A leap second counts as the one before it.
    let there_is = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60;
    if !there_is || second > 60 {
        return None;
    }
    let minutes = (days(year, month, day) * 24 + hour) * 60 + minute - offset;
    let seconds = minutes * 60 + second.min(59);
    let ns = seconds.checked_mul(1_000_000_000)?.checked_add(ns)?;
    Some((u64::try_from(ns).ok()?, rest))
}

/// Days from 1970 to a date of the Gregorian calendar. For the computation the year begins in
/// March.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Takes a number of `digits` digits.
fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let (number, after) = rest.split_at_checked(digits)?;
    if !number.iter().all(u8::is_ascii_digit) {
        return None;
    }
    *rest = after;
    Some(number.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Takes one of the given characters.
fn after(rest: &mut &[u8], any: &[u8]) -> Option<()> {
    let (first, after) = rest.split_first()?;
    any.contains(first).then(|| *rest = after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW_YEAR: u64 = 1_704_067_200_000_000_000;

    #[test]
    fn dates_are_compared_with_their_offsets() {
        for (text, after) in [
            ("2024-01-01T00:00:00Z", 0),
            ("2024-01-01T00:00:00.000+0000", 0),
            ("2024-01-01T02:00:00.000+0200", 0),
            ("2023-12-31T19:00:00.000-05:00", 0),
            ("2024-01-01 05:45:00,5+0545", 500_000_000),
            ("2024-01-01T00:00:00.123456789Z", 123_456_789),
            ("2024-01-01T00:00:00.1234567Z", 123_456_700),
            ("2024-01-01T00:00:00.12345678901234Z", 123_456_789),
            ("2024-03-01T00:00:00Z", 60 * 86_400_000_000_000),
            ("2024-12-31T23:59:60Z", 366 * 86_400_000_000_000 - 1_000_000_000),
        ] {
            assert_eq!(date(text.as_bytes()), Some((NEW_YEAR + after, &b""[..])), "{text}");
        }
        // The hour that was set back: 02:30 comes twice.
        let ns = |text: &str| date(text.as_bytes()).unwrap().0;
        let hour = ns("2024-10-27T02:30:00.000+0100") - ns("2024-10-27T02:30:00.000+0200");
        assert_eq!(hour, 3600 * 1_000_000_000);
        for text in [
            "2024-01-01T00:00:00",
            "2024-13-01T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "1969-12-31T23:59:59Z",
            "9999-01-01T00:00:00Z",
            "2024-01-01",
            "2024-01-01T00:00:00.+",
            "x",
            "",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(date(b"1970-01-01T00:00:00Z rest"), Some((0, &b" rest"[..])));
    }

    #[test]
    fn decorations_tell_two_clocks() {
        let stamp = |text: &str| {
            let stamp = Stamp::of(text.as_bytes());
            (stamp.uptime, stamp.epoch)
        };
        assert_eq!(stamp("[0.123s][trace][gc,tlab]"), (Some(123_000_000), None));
        assert_eq!(stamp("[0,123s]"), (Some(123_000_000), None));
        assert_eq!(stamp("[7ms]"), (Some(7_000_000), None));
        assert_eq!(stamp("[15123456ns]"), (Some(15_123_456), None));
        assert_eq!(stamp("[1704067200001ms]"), (None, Some(NEW_YEAR + 1_000_000)));
        let both = "[2024-01-01T02:00:00.000+0200][1.5s][host][123][456][trace][gc,tlab    ]";
        assert_eq!(stamp(both), (Some(1_500_000_000), Some(NEW_YEAR)));
        assert_eq!(stamp("[1910168998875ns][91792688ns]"), (Some(91_792_688), None));
        assert_eq!(stamp("[123][trace][gc,tlab][pod-5s][5s more]"), (None, None));
        assert_eq!(stamp("[99999999999999999999999s]").0, Some(u64::MAX));
        assert_eq!(stamp(""), (None, None));
    }

    #[test]
    fn stamps_of_jdk_8() {
        let old = |text: &str| Stamp::of_old_collection(text.as_bytes());
        let stamp = old("2024-01-01T02:00:00.000+0200: 0.125: [GC (Allocation Failure) TLAB: gc").unwrap();
        assert_eq!((stamp.uptime, stamp.epoch), (Some(125_000_000), Some(NEW_YEAR)));
        assert_eq!(old("0.125: [Full GC").unwrap().uptime, Some(125_000_000));
        assert_eq!(old("2024-01-01T02:00:00.000+0200: [GC").unwrap().epoch, Some(NEW_YEAR));
        for text in ["TLAB: gc", "5: five", "", "0.125: text", "[0.1s][gc] 0.125: [GC"] {
            assert_eq!(old(text), None, "{text}");
        }
    }
}
