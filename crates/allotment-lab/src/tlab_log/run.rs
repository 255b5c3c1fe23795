//! Which JVM of several a line is of, and when it was written in a time that goes on through all of them.
//!
//! Logs of several JVMs come in one file or in rotated files with one name. A JVM has begun anew where the
//! uptime has: by more than lines overtake each other, so to less than half of what it was. Where lines
//! have no uptime the numbers of collections tell the same. A date that goes back tells nothing: clocks are set.
//! Where a collector of logs says whose a line is, that tells most: another name is another JVM, and a name that
//! comes back means that the lines of several are mixed. So does an uptime that goes on, again and again, where it
//! was before another began. Then nothing tells which collection a line is of.

use super::stamp::Stamp;
use std::collections::BTreeSet;

/// ns by which lines of two threads may be in the wrong order.
const OVERTAKING: u64 = 10_000_000;

/// The JVMs of a log, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    any: bool,
    restarts: u64,
    clock: Option<Clock>,
    /// The latest uptime of this JVM.
    uptime: u64,
    /// The largest number of a collection of this JVM.
    number: u64,
    /// Time of the JVMs before.
    before: u64,
    /// The latest uptime of the JVM before.
    ended: u64,
    /// How often a line went on where that had ended.
    returns: u64,
    /// Whose lines these are, and whose there were.
    source: Vec<u8>,
    sources: BTreeSet<Vec<u8>>,
    mixed: bool,
}

/// A JVM that does nothing for a while goes on where another had ended; so many do not.
const MOST_RETURNS: u64 = 3;

/// Names that are kept; the names of more are no names.
const MOST_SOURCES: usize = 1000;

/// Which time is told: the first that a line has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clock {
    Uptime,
    Epoch,
}

impl Runs {
    /// Whether a JVM begins with a line; and its time in ns, from whenever.
    pub(super) fn line(&mut self, stamp: Stamp, number: Option<u64>, source: &[u8]) -> (bool, Option<u64>) {
        self.any = true;
        let other = self.other(source);
        let begins = match (stamp.uptime, number) {
            _ if self.mixed => false,
            _ if other => true,
            (Some(now), _) => now.saturating_add(OVERTAKING) < self.uptime && now < self.uptime / 2,
            (None, Some(number)) => number < self.number.div_ceil(2),
            (None, None) => false,
        };
        // From what the next one had reached to where the last one was, in one line.
        if let Some(now) = stamp.uptime
            && self.ended > 0
            && (self.ended..=self.ended.saturating_add(self.ended / 2)).contains(&now)
            && self.uptime < self.ended / 2
        {
            self.returns += 1;
            self.ended = 0;
            self.mixed |= self.returns >= MOST_RETURNS;
        }
        if begins {
            self.restarts += 1;
            self.ended = self.uptime;
            self.before = self.before.saturating_add(self.uptime);
            (self.uptime, self.number) = (0, 0);
        }
        self.uptime = self.uptime.max(stamp.uptime.unwrap_or(0));
        self.number = self.number.max(number.unwrap_or(0));
        let first = stamp.uptime.map(|_| Clock::Uptime).or(stamp.epoch.map(|_| Clock::Epoch));
        self.clock = self.clock.or(first);
        let time = match self.clock {
            Some(Clock::Uptime) => stamp.uptime.map(|now| now.saturating_add(self.before)),
            Some(Clock::Epoch) => stamp.epoch,
            None => None,
        };
        (begins, time)
    }

    /// Whether a line is of another JVM than the line before, by whose it is.
    fn other(&mut self, source: &[u8]) -> bool {
        if source.is_empty() || source == self.source {
            return false;
        }
        let is_first = self.sources.is_empty();
        if self.sources.len() < MOST_SOURCES && !self.sources.insert(source.to_vec()) {
            self.mixed = true;
        }
        self.source = source.to_vec();
        !is_first
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        if self.mixed { self.sources.len().max(2) as u64 } else { u64::from(self.any) + self.restarts }
    }

    /// Whether their lines are mixed.
    pub(super) fn are_mixed(&self) -> bool {
        self.mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uptime(ms: u64) -> Stamp {
        Stamp { uptime: Some(ms * 1_000_000), epoch: None }
    }

    #[test]
    fn a_jvm_begins_where_its_uptime_does() {
        let mut runs = Runs::default();
        assert_eq!(runs.count(), 0);
        // Lines that overtake each other are of one JVM.
        for ms in [5, 4, 900, 890, 1000, 501] {
            assert_eq!(runs.line(uptime(ms), Some(3), b""), (false, Some(ms * 1_000_000)));
        }
        assert_eq!(runs.line(uptime(20), Some(0), b""), (true, Some(1_020_000_000)));
        assert_eq!(runs.line(uptime(30), None, b""), (false, Some(1_030_000_000)));
        assert_eq!(runs.count(), 2);
    }

    #[test]
    fn numbers_tell_where_there_is_no_uptime() {
        let mut runs = Runs::default();
        let epoch = |ns| Stamp { uptime: None, epoch: Some(ns) };
        // The clock was set back.
        for (ns, number) in [(500, 0), (400, 1), (600, 7), (700, 5), (710, 4)] {
            assert_eq!(runs.line(epoch(ns), Some(number), b""), (false, Some(ns)));
        }
        assert_eq!(runs.line(epoch(800), None, b""), (false, Some(800)));
        assert_eq!(runs.line(epoch(900), Some(0), b""), (true, Some(900)));
        assert_eq!(runs.line(Stamp::default(), Some(1), b""), (false, None));
        assert_eq!(runs.count(), 2);
    }

    #[test]
    fn names_that_come_back_are_mixed() {
        let mut runs = Runs::default();
        let mut begins = |source: &str, ms| runs.line(uptime(ms), None, source.as_bytes()).0;
        assert!(
            !begins("java[1]:", 500)
                && !begins("", 510)
                && begins("java[7]:", 505)
                && !begins("java[7]:", 900)
        );
        assert_eq!((runs.count(), runs.are_mixed()), (2, false));
        let mut begins = |source: &str, ms| runs.line(uptime(ms), None, source.as_bytes()).0;
        assert!(!begins("java[1]:", 600) && !begins("java[7]:", 1) && !begins("web", 1));
        assert_eq!((runs.count(), runs.are_mixed()), (3, true));
    }

    #[test]
    fn uptimes_that_go_to_and_fro_are_mixed() {
        let mut runs = Runs::default();
        for ms in 0..5 {
            runs.line(uptime(5000 + ms), None, b"");
            runs.line(uptime(100 + ms), None, b"");
        }
        assert_eq!((runs.count(), runs.are_mixed()), (2, true));
        let mut runs = Runs::default();
        // One after the other, the second of which sleeps.
        for ms in [100, 200, 10, 20, 900, 10, 950, 5, 100, 1000] {
            runs.line(uptime(ms), None, b"");
        }
        assert_eq!((runs.count(), runs.are_mixed()), (4, false));
    }
}
