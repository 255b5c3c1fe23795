//! Assigns a line to one of several JVMs, and gives it a time that continues through all of them.
//!
//! Logs of several JVMs come in one file or in rotated files with one name. Several signs tell the
//! JVMs apart:
//!
//! - A new JVM has begun if the uptime falls to less than half. Lines that overtake each other
//!   differ by less.
//! - Without uptimes, the numbers of collections serve in the same way.
//! - A date that goes back means nothing, since clocks are set.
//! - Lines are mixed if an uptime repeatedly continues from before another JVM began, or if
//!   numbers of collections go back several times in one JVM. Then no line can be assigned to its
//!   collection. [`Prefixes`](super::whose::Prefixes) has another sign of mixed lines.
//! - A new kind of line, in its dialect or in having decorations, is of another release, and so of
//!   another JVM.
//! - Times that mostly go back belong to a log with its newest line first.

use super::line::Dialect;
use super::stamp::Stamp;
use std::collections::BTreeSet;

/// The largest disorder of two threads' lines, in ns.
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
    /// Total time of the JVMs before.
    before: u64,
    /// The latest uptime of the JVM before.
    ended: u64,
    /// How often a line continued where that JVM had ended.
    returns: u64,
    mixed: bool,
    /// The kinds of lines so far.
    kinds: BTreeSet<LineKind>,
    kind: Option<LineKind>,
    /// The number in the last line that had one, and the number at which the JVM before ended.
    last_number: Option<u64>,
    ended_number: u64,
    /// How often the number has gone back in this JVM.
    backs: u64,
    /// Lines of collections, and how many of them were later than lines overtake each other.
    lines: u64,
    late: u64,
    is_late: bool,
    /// The next line begins a JVM, since a line of a new kind came.
    begins: bool,
    /// The time of the line before, and how often times rose and fell.
    last_time: Option<(Clock, u64)>,
    forward: u64,
    backward: u64,
}

/// Properties that are constant for the lines of one JVM: the dialect, and whether they have
/// decorations.
pub(super) type LineKind = (Dialect, bool);

/// The number of falls that shows mixed lines. Files joined in the wrong order cause fewer.
const MOST_BACKS: u64 = 3;

/// The number of returns that shows mixed lines. A JVM that pauses and continues where another had
/// ended causes fewer.
const MOST_RETURNS: u64 = 3;

/// The clock in use: the first that a line has.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Clock {
    Uptime,
    Epoch,
    /// No clock: the numbers of collections.
    Number,
}

impl Runs {
    /// Whether a JVM begins with a line, and the line's time in ns from an arbitrary origin.
    pub(super) fn line(&mut self, stamp: Stamp, number: Option<u64>) -> (bool, Option<u64>) {
        self.any = true;
        let is_new_kind = std::mem::take(&mut self.begins);
        self.step(stamp, number);
        let begins = match (stamp.uptime, number) {
            _ if self.mixed => false,
            _ if is_new_kind => true,
            (Some(now), _) => now.saturating_add(OVERTAKING) < self.uptime && now < self.uptime / 2,
            (None, Some(number)) => number < self.number.div_ceil(2),
            (None, None) => false,
        };
        // The uptime, or the number, jumps from where the new JVM is to where the last one ended,
        // in one line.
        let returns = match (stamp.uptime, number) {
            (Some(now), _) => comes_back(now, self.uptime, &mut self.ended, 1),
            (None, Some(number)) => comes_back(number, self.number, &mut self.ended_number, 2),
            (None, None) => false,
        };
        self.returns += u64::from(returns);
        self.mixed |= returns && self.returns >= MOST_RETURNS;
        if begins {
            self.ended_number = self.number;
            (self.backs, self.last_number, self.is_late) = (0, None, false);
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
            _ => None,
        };
        (begins, time)
    }

    /// Records the kind of a complete line. The next line begins a JVM if this kind is new.
    pub(super) fn kind(&mut self, kind: LineKind) {
        if self.kind == Some(kind) {
            return;
        }
        // A kind that comes back is that of a line which a log collector cut.
        self.begins |= self.kinds.insert(kind) && self.kind.is_some();
        self.kind = Some(kind);
    }

    /// Records whether time rises or falls.
    fn step(&mut self, stamp: Stamp, number: Option<u64>) {
        let uptime = stamp.uptime.map(|now| (Clock::Uptime, now));
        let epoch = stamp.epoch.map(|now| (Clock::Epoch, now));
        let Some((clock, now)) = uptime.or(epoch).or(number.map(|number| (Clock::Number, number))) else {
            return;
        };
        if let Some((last_clock, last)) = self.last_time.replace((clock, now))
            && last_clock == clock
        {
            self.forward += u64::from(now > last);
            self.backward += u64::from(now < last);
        }
    }

    /// Compares a collection's line, which is not a repeat, with those before it in this JVM.
    pub(super) fn compare(&mut self, uptime: Option<u64>, number: Option<u64>) {
        self.lines += 1;
        let is_late = uptime.is_some_and(|now| now.saturating_add(OVERTAKING) < self.uptime);
        self.late += u64::from(is_late && !self.is_late);
        self.is_late = is_late;
        let Some(number) = number else { return };
        self.backs += u64::from(self.last_number.replace(number).is_some_and(|last| number < last));
        self.mixed |= self.backs >= MOST_BACKS;
    }

    /// Whether times are the JVM's uptime, which cannot be set.
    pub(super) fn has_uptime(&self) -> bool {
        self.clock == Some(Clock::Uptime)
    }

    /// Whether the newest line is the first.
    pub(super) fn is_newest_first(&self) -> bool {
        self.backward >= 2 && self.backward / 2 > self.forward
    }

    /// The number of JVMs.
    pub(super) fn count(&self) -> u64 {
        if self.are_mixed() { 2 } else { u64::from(self.any) + self.restarts }
    }

    /// Whether the lines of the JVMs are mixed.
    pub(super) fn are_mixed(&self) -> bool {
        let late = self.late >= MOST_BACKS && self.late >= self.lines / 20;
        self.mixed || late
    }
}

/// Whether a clock that is at `latest` in this JVM jumps to `now`, soon after where it `ended`, at
/// `least` or later, in the JVM before. Says so once.
fn comes_back(now: u64, latest: u64, ended: &mut u64, least: u64) -> bool {
    let soon_after = *ended..=ended.saturating_add(*ended / 2);
    let is = *ended >= least && latest < *ended / 2 && soon_after.contains(&now);
    if is {
        *ended = 0;
    }
    is
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
            assert_eq!(runs.line(uptime(ms), Some(3)), (false, Some(ms * 1_000_000)));
        }
        assert_eq!(runs.line(uptime(20), Some(0)), (true, Some(1_020_000_000)));
        assert_eq!(runs.line(uptime(30), None), (false, Some(1_030_000_000)));
        assert_eq!(runs.count(), 2);
    }

    #[test]
    fn numbers_tell_where_there_is_no_uptime() {
        let mut runs = Runs::default();
        let epoch = |ns| Stamp { uptime: None, epoch: Some(ns) };
        // The clock was set back.
        for (ns, number) in [(500, 0), (400, 1), (600, 7), (700, 5), (710, 4)] {
            assert_eq!(runs.line(epoch(ns), Some(number)), (false, Some(ns)));
        }
        assert_eq!(runs.line(epoch(800), None), (false, Some(800)));
        assert_eq!(runs.line(epoch(900), Some(0)), (true, Some(900)));
        assert_eq!(runs.line(Stamp::default(), Some(1)), (false, None));
        assert_eq!(runs.count(), 2);
    }

    #[test]
    fn numbers_that_go_back_in_time_are_mixed() {
        let mixed = |stamp: fn(u64) -> Stamp, of: fn(u64) -> u64| {
            let mut runs = Runs::default();
            for line in 1..40 {
                runs.line(stamp(line), Some(of(line)));
                runs.compare(stamp(line).uptime, Some(of(line)));
            }
            runs.are_mixed()
        };
        let to_and_fro = |line| if line % 2 == 0 { line + 20 } else { line };
        assert!(mixed(uptime, to_and_fro) && mixed(|_| Stamp::default(), to_and_fro));
        assert!(!mixed(uptime, |line| line) && !mixed(|_| Stamp::default(), |line| line / 3));
        // Numbers that are far apart look like JVMs that begin, one after the other.
        assert!(mixed(|_| Stamp::default(), |line| if line % 2 == 0 { line + 2000 } else { line }));
    }

    #[test]
    fn times_that_mostly_go_back_are_a_log_with_its_newest_line_first() {
        let is = |times: &[u64]| {
            let mut runs = Runs::default();
            for &ms in times {
                runs.line(uptime(ms), None);
            }
            runs.is_newest_first()
        };
        assert!(is(&[900, 900, 800, 801, 700, 600, 500, 400, 300]));
        assert!(!is(&[100, 200, 199, 198, 300, 400, 10, 20]) && !is(&[900, 100]));
    }

    #[test]
    fn another_kind_of_line_begins_a_jvm_once() {
        let mut runs = Runs::default();
        let mut begins = |kind| {
            runs.kind(kind);
            runs.line(Stamp::default(), None).0
        };
        let (new, old) = ((Dialect::Slow, true), (Dialect::Fast, false));
        assert_eq!(
            [new, new, old, old, new, old].map(&mut begins),
            [false, false, true, false, false, false]
        );
    }

    #[test]
    fn uptimes_that_go_to_and_fro_are_mixed() {
        let mut runs = Runs::default();
        for ms in 0..5 {
            runs.line(uptime(5000 + ms), None);
            runs.line(uptime(100 + ms), None);
        }
        assert_eq!((runs.count(), runs.are_mixed()), (2, true));
        let mut runs = Runs::default();
        // JVMs one after the other, the second of which sleeps.
        for ms in [100, 200, 10, 20, 900, 10, 950, 5, 100, 1000] {
            runs.line(uptime(ms), None);
        }
        assert_eq!((runs.count(), runs.are_mixed()), (4, false));
    }
}
