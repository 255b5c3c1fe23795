//! The sums over all lines of a log.

use super::account::{Account, When, announced};
use super::cycles::Cycles;
use super::history::History;
use super::line::{Dialect, Line, Request, ThreadId, Totals, Waste, message};
use super::place::{Placed, placed};
use super::release::Releases;
use super::run::Runs;
use super::stamp::Stamp;
use super::whose::Prefixes;
use crate::numbers::Numbers;

/// Lines that were not read, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines about buffers that are incomplete.
    pub damaged: u64,
    /// Lines about something else.
    pub foreign: u64,
}

/// The sums over the totals lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// Collections, with or without a totals line; known when the log has ended.
    pub collections: u64,
    /// Totals lines.
    pub lines: u64,
    /// The most threads that were given buffers before a totals line.
    pub most_threads: u64,
    /// Buffers given.
    pub refills: u64,
    /// Objects allocated outside of kept buffers.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
}

/// The refills in which the threads' lines at collections differ from the totals lines. Totals by
/// totals: some may have more refills than the threads' lines before them, and others fewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Refills in the totals only: threads' lines are missing.
    pub missing: u64,
    /// Refills in the threads' lines only: totals are missing, or lines came twice.
    pub more: u64,
}

/// A log, read line by line.
///
/// ```
/// use allotment_tools::tlab_log::Log;
///
/// let mut log = Log::default();
/// log.line(
///     b"[0.5s][trace][gc,tlab] TLAB fill: thread: 0x00007f00 [id: 7] \
///       capacity: 64K slow allocs: 0  refills: 1",
///     true,
/// );
/// log.finish();
/// assert_eq!((log.accounts()[0].refills, log.accounts()[0].buffers), (1, 64 << 10));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    accounts: Vec<Account>,
    /// The accounts by thread.
    indices: Numbers<ThreadId>,
    /// The sums of the totals lines.
    pub totals: Sum,
    /// Refills for which the heap had no room.
    pub refused: u64,
    /// Lines that were read.
    pub read: u64,
    /// Lines among them that had occurred before, and were counted once.
    pub repeated: u64,
    /// Lines that were not read.
    pub skipped: Skipped,
    /// Lines about something else that have a message within JSON.
    pub json: u64,
    /// The JVM's target of refills per cycle, where the log gives it.
    pub target: Option<u64>,
    /// The input of a replay.
    pub cycles: Cycles,
    /// The sizes that threads desired, over time.
    pub history: History,
    /// Lines of collections without a time.
    pub untimed: u64,
    /// A packed file ended before its data did: the rest is missing.
    pub cut_off: bool,
    runs: Runs,
    releases: Releases,
    request: Option<Request>,
    /// The stamp that JDK 8 wrote before the last collection.
    old_stamp: Stamp,
    since_totals: SinceTotals,
    difference: Difference,
    prefixes: Prefixes,
    last_totals: Option<(When, Totals)>,
    /// Lines of threads at collections that have the number of the collection, and those without.
    with_number: u64,
    without_number: u64,
    /// Totals lines that came before the threads' lines of their own collection.
    before_threads: u64,
    /// Refills in threads' lines of collections, and of cycles without such a line; both up to the
    /// last totals.
    in_lines: u64,
    pub(super) compared: Compared,
    /// How often the count of refills of a thread rose by one, and fell by one.
    steps_up: u64,
    steps_down: u64,
}

/// The sums of the threads' lines at the last totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compared {
    /// Refills, including those of cycles without a collection's line.
    pub(super) refills: u64,
    /// Refills of cycles with a missing collection's line.
    pub(super) lost: u64,
}

/// Refills in threads' lines of collections since the totals line before.
#[derive(Clone, Copy, Debug, Default)]
struct SinceTotals {
    all: u64,
    /// Refills of the last of these collections.
    of_last: u64,
    number: Option<u64>,
    /// Some refills are of the collection of the totals line before.
    of_totals: bool,
}

impl Log {
    /// Takes in a line without its end. `whole`: the end of the line was there.
    pub fn line(&mut self, line: &[u8], whole: bool) {
        let Some(placed) = placed(line) else {
            self.old_stamp = Stamp::of_old_collection(line).unwrap_or(self.old_stamp);
            self.skipped.foreign += u64::from(!line.is_empty());
            return;
        };
        if placed.is_in_json() {
            self.skipped.foreign += 1;
            self.json += 1;
            return;
        }
        match message(placed.message, whole, placed.is_decorated()) {
            Line::Foreign => self.skipped.foreign += 1,
            Line::Damaged => self.skipped.damaged += 1,
            told => {
                let stamp = self.stamp(line, &placed);
                if let Some(dialect) = told.dialect().filter(|_| whole) {
                    self.runs.kind((dialect, !placed.decorations.is_empty()));
                }
                self.prefixes.line(placed.prefix);
                let (begins, time) = self.runs.line(stamp, placed.number);
                if begins {
                    self.end_run();
                }
                let counts = match &told {
                    Line::Gc(gc) => gc.refills > 0,
                    told => matches!(told, Line::Totals(_)),
                };
                let repeated = self.repeated;
                self.take(told, &placed, time, whole);
                if counts && self.repeated == repeated {
                    self.runs.compare(stamp.uptime, placed.number);
                }
                self.read += 1;
            }
        }
    }

    /// The time of a line.
    fn stamp(&mut self, line: &[u8], placed: &Placed<'_>) -> Stamp {
        let stamp = if placed.is_decorated() {
            Stamp::of(placed.decorations)
        } else {
            self.old_stamp = Stamp::of_old_collection(line).unwrap_or(self.old_stamp);
            self.old_stamp
        };
        stamp.or(Stamp::of_prefix(placed.prefix))
    }

    fn take(&mut self, line: Line, placed: &Placed<'_>, time: Option<u64>, whole: bool) {
        let (number, decorated) = (placed.number, placed.is_decorated());
        let when = When { time, is_uptime: self.runs.has_uptime(), number };
        // If the end is missing, the field that distinguishes the oldest dialect from the next may
        // be missing.
        let told = |dialect| Some(dialect).filter(|dialect| whole || *dialect != Dialect::Slow);
        match line {
            Line::Request(request) => {
                match request.size {
                    Some(_) => self.cycles.waiting.add(request.object),
                    None => self.refused += 1,
                }
                self.request = Some(request);
            }
            Line::Fill(fill) => {
                self.releases.add(told(fill.dialect), decorated, false);
                let requested = announced(&fill, self.request.take());
                let index = self.index(fill.thread);
                let account = &mut self.accounts[index];
                let step = account.step(&fill);
                self.steps_up += u64::from(step > 0);
                self.steps_down += u64::from(step < 0);
                if account.is_repeated_fill(&fill, when) {
                    self.repeated += 1;
                } else {
                    account.fill(&fill, requested, when);
                }
            }
            Line::Gc(gc) => {
                self.releases.add(told(gc.dialect), decorated, true);
                let index = self.index(gc.thread);
                let account = &mut self.accounts[index];
                if account.is_repeated_gc(&gc, when) {
                    self.repeated += 1;
                    return;
                }
                let closed = account.gc(&gc, when);
                self.with_number += u64::from(number.is_some());
                self.without_number += u64::from(number.is_none());
                self.in_lines = self.in_lines.saturating_add(gc.refills);
                let last = self.last_totals.as_ref().and_then(|(when, _)| when.number);
                self.since_totals.of_totals |= number.is_some() && number == last;
                self.since_totals.add(gc.refills, number);
                if let Some(size) = gc.desired {
                    self.sized(index, time, size);
                }
                // A log has fewer threads than this, or the index would not fit in memory.
                self.cycles.gc(index as u32, &gc, number, time, closed);
            }
            Line::Resize(resize) => {
                self.releases.add(resize.dialect, decorated, false);
                self.target = resize.target.or(self.target);
                let index = self.index(resize.thread);
                self.accounts[index].desires(resize.to);
                self.sized(index, time, resize.to);
                self.cycles.resize(&resize, number);
            }
            Line::Totals(totals) => {
                self.releases.add(told(totals.dialect), decorated, true);
                if self.is_repeated(&totals, when) {
                    self.repeated += 1;
                    return;
                }
                self.cycles.totals(number, time);
                self.compare(&totals, number);
                self.last_totals = Some((when, totals.clone()));
                let sum = &mut self.totals;
                sum.lines += 1;
                sum.most_threads = sum.most_threads.max(totals.threads);
                sum.refills = sum.refills.saturating_add(totals.refills);
                sum.slow_allocations = sum.slow_allocations.saturating_add(totals.slow_allocations);
                sum.waste.add(&totals.waste);
            }
            Line::Damaged | Line::Foreign => {}
        }
    }

    fn sized(&mut self, index: usize, time: Option<u64>, size: u64) {
        match time {
            Some(time) => self.history.add(index, time, size),
            None => self.untimed += 1,
        }
    }

    /// Compares a totals line with the threads' lines before it.
    fn compare(&mut self, totals: &Totals, number: Option<u64>) {
        let since = std::mem::take(&mut self.since_totals);
        let last = self.last_totals.as_ref().and_then(|(when, _)| when.number);
        self.before_threads += u64::from(since.of_totals && number != last);
        let lost = self.sum().lost;
        self.compared = Compared { refills: self.in_lines.saturating_add(lost), lost };
        // The refills of its own collection match: the totals of the one before are missing.
        let is_own = since.number == number && since.of_last == totals.refills;
        if totals.refills > since.all {
            let missing = &mut self.difference.missing;
            *missing = missing.saturating_add(totals.refills - since.all);
        } else if !is_own {
            let more = &mut self.difference.more;
            *more = more.saturating_add(since.all - totals.refills);
        }
    }

    /// Ends the JVM's run: an open cycle does not continue in the next JVM.
    fn end_run(&mut self) {
        for account in &mut self.accounts {
            account.end_run();
        }
        self.last_totals = None;
        self.cycles.end();
        self.request = None;
        self.since_totals = SinceTotals::default();
    }

    /// Ends the log.
    pub fn finish(&mut self) {
        self.end_run();
        self.totals.collections = self.cycles.count;
    }

    /// The threads, in the order of their first lines.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The JDKs that wrote the lines, as far as the lines show; more than one if logs of several
    /// JVMs were given.
    pub fn releases(&self) -> Vec<&'static str> {
        self.releases.names(self.skipped.damaged)
    }

    /// The number of JVMs that wrote the log, one after the other.
    pub fn jvms(&self) -> u64 {
        match self.prefixes.mixed() {
            Some(names) => self.runs.count().max(names as u64),
            None => self.runs.count(),
        }
    }

    /// Whether the lines of several JVMs are mixed, so that a line cannot be assigned to a
    /// collection.
    pub fn is_mixed(&self) -> bool {
        !self.is_newest_first() && (self.runs.are_mixed() || self.prefixes.mixed().is_some())
    }

    /// Whether the newest line is the first, as some collectors of logs give them.
    pub fn is_newest_first(&self) -> bool {
        const FEW: u64 = 10;
        let (on, back) = (self.steps_up, self.steps_down);
        self.runs.is_newest_first() || back >= FEW && back / 2 > on
    }

    /// Whether the lines are in the order in which one JVM after the other wrote them, so that sums
    /// can be compared.
    pub fn is_in_order(&self) -> bool {
        !self.is_newest_first() && !self.is_mixed()
    }

    /// Whether this is Shenandoah's log. It writes the totals before the threads' lines of a
    /// collection. In some collections it takes buffers away twice, and in others it repeats the
    /// totals of the one before.
    pub fn is_shenandoah(&self) -> bool {
        self.before_threads > 0 && self.before_threads >= self.totals.lines / 8
    }

    /// Whether this is the log of ZGC, in which a thread may give its buffer up itself, in a line
    /// without the collection's number. Some do so after the totals, which then leave them out.
    pub fn is_zgc(&self) -> bool {
        self.with_number > 0 && self.without_number > 0 && !self.is_shenandoah()
    }

    /// The sums of all threads.
    pub fn sum(&self) -> Account {
        let mut sum = Account::default();
        self.accounts.iter().for_each(|account| sum.add(account));
        sum
    }

    /// Whether a totals line has occurred before.
    fn is_repeated(&self, totals: &Totals, when: When) -> bool {
        let Some((last, before)) = &self.last_totals else { return false };
        let is_older = when.is_before(last) && when.number < last.number;
        let is_same = when == *last && totals == before && self.since_totals.all == 0;
        is_older || is_same && when.number.is_some()
    }

    /// The refills in which the threads' lines at collections differ from the totals lines; `None`
    /// if one of the two kinds is not in the log.
    pub fn difference(&self) -> Option<Difference> {
        (self.totals.lines > 0 && !self.accounts.is_empty()).then_some(self.difference)
    }

    fn index(&mut self, thread: ThreadId) -> usize {
        let index = self.indices.of(thread);
        if index == self.accounts.len() {
            self.accounts.push(Account::new(thread));
        }
        index
    }
}

impl SinceTotals {
    fn add(&mut self, refills: u64, number: Option<u64>) {
        if number != self.number {
            self.of_last = 0;
        }
        self.number = number;
        self.of_last = self.of_last.saturating_add(refills);
        self.all = self.all.saturating_add(refills);
    }
}
