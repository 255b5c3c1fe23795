//! What all lines of a log add up to.

use super::account::{Account, announced};
use super::cycles::Cycles;
use super::history::History;
use super::line::{Dialect, Line, Request, ThreadId, Totals, Waste, message};
use super::place::{Placed, placed};
use super::release::Releases;
use super::run::Runs;
use super::stamp::Stamp;
use super::unwrap::{Unwrapped, Unwrapper};
use std::collections::HashMap;

/// Lines that were not read, by why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    /// About buffers, and not whole.
    pub damaged: u64,
    /// About something else.
    pub foreign: u64,
}

/// The sums over the totals lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Sum {
    /// Collections, whether they have a totals line or not; known when the log has ended.
    pub collections: u64,
    /// Totals lines.
    pub lines: u64,
    /// Most threads that were given buffers before one of them.
    pub most_threads: u64,
    /// Buffers given.
    pub refills: u64,
    /// Objects allocated outside of kept buffers.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
}

/// How the threads' lines at collections compare with the totals lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// One of the two kinds is not in the log.
    Unknown,
    /// Refill for refill.
    Same,
    /// So many refills are in the totals and in no thread's line: lines are missing.
    Missing(u64),
    /// So many refills are in the threads' lines and in no totals. Shenandoah takes buffers away twice in a
    /// collection and has the last of the two in the totals; or totals are missing.
    More(u64),
}

/// A log, read line by line.
///
/// ```
/// use allotment_lab::tlab_log::Log;
///
/// let mut log = Log::default();
/// log.line(
///     b"[0.5s][trace][gc,tlab] TLAB fill: thread: 0x00007f00 [id: 7] capacity: 64K slow allocs: 0  refills: 1",
///     true,
/// );
/// log.finish();
/// assert_eq!((log.accounts()[0].refills, log.accounts()[0].buffers), (1, 64 << 10));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    accounts: Vec<Account>,
    indices: HashMap<ThreadId, usize>,
    /// What totals lines add up to.
    pub totals: Sum,
    /// Refills for which the heap had no room.
    pub refused: u64,
    /// Lines that were read.
    pub read: u64,
    /// Lines that were not.
    pub skipped: Skipped,
    /// Refills per cycle that the JVM aims at, where the log tells.
    pub target: Option<u64>,
    /// What a replay is fed with.
    pub cycles: Cycles,
    /// The sizes that threads desired, over time.
    pub history: History,
    /// Lines of collections that do not say when they were written.
    pub untimed: u64,
    /// A packed file ended before its data did: the rest is missing.
    pub cut_off: bool,
    runs: Runs,
    releases: Releases,
    request: Option<Request>,
    unwrapper: Unwrapper,
    /// What JDK 8 wrote before the last collection.
    old_stamp: Stamp,
    since_totals: SinceTotals,
    missing: u64,
    more: u64,
}

/// Refills in threads' lines of collections since the totals line before.
#[derive(Clone, Copy, Debug, Default)]
struct SinceTotals {
    all: u64,
    /// Those of the last of these collections.
    of_last: u64,
    number: Option<u64>,
}

impl Log {
    /// Takes in a line without its end. `whole`: its end was there.
    pub fn line(&mut self, line: &[u8], whole: bool) {
        let mut unwrapper = std::mem::take(&mut self.unwrapper);
        unwrapper.line(line, whole, |one| self.unwrapped(&one));
        self.unwrapper = unwrapper;
    }

    fn unwrapped(&mut self, line: &Unwrapped<'_>) {
        let text = &*line.text;
        let Some(placed) = placed(text) else {
            self.old_stamp = Stamp::of_old_collection(text).unwrap_or(self.old_stamp);
            self.skipped.foreign += u64::from(line.too_long || !text.is_empty());
            return;
        };
        match message(placed.message, line.whole, placed.is_decorated()) {
            Line::Foreign => self.skipped.foreign += 1,
            Line::Damaged => self.skipped.damaged += 1,
            told => {
                let stamp = self.stamp(line, &placed);
                let (begins, time) = self.runs.line(stamp, placed.number, placed.source());
                if begins {
                    self.end_run();
                }
                self.take(told, &placed, time, line.whole);
                self.read += 1;
            }
        }
    }

    /// When a line was written.
    fn stamp(&mut self, line: &Unwrapped<'_>, placed: &Placed<'_>) -> Stamp {
        let stamp = if placed.is_decorated() {
            Stamp::of(placed.decorations)
        } else {
            self.old_stamp = Stamp::of_old_collection(&line.text).unwrap_or(self.old_stamp);
            self.old_stamp
        };
        stamp.or(line.stamp)
    }

    fn take(&mut self, line: Line, placed: &Placed<'_>, time: Option<u64>, whole: bool) {
        let (number, decorated) = (placed.number, placed.is_decorated());
        // Where the end is missing, what tells the oldest dialect from the next may be.
        let told = |dialect| Some(dialect).filter(|dialect| whole || *dialect != Dialect::Slow);
        match line {
            Line::Request(request) => {
                self.refused += u64::from(request.size.is_none());
                self.request = Some(request);
            }
            Line::Fill(fill) => {
                self.releases.add(told(fill.dialect), decorated, false);
                let requested = announced(&fill, self.request.take());
                let index = self.index(fill.thread);
                self.accounts[index].fill(&fill, requested);
            }
            Line::Gc(gc) => {
                self.releases.add(told(gc.dialect), decorated, true);
                self.since_totals.add(gc.refills, number);
                let index = self.index(gc.thread);
                let closed = self.accounts[index].gc(&gc);
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
                self.cycles.totals(number, time);
                self.compare(&totals, number);
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
        // Those of its own collection: the totals of the one before are missing.
        let is_own = since.number == number && since.of_last == totals.refills;
        if totals.refills > since.all {
            self.missing = self.missing.saturating_add(totals.refills - since.all);
        } else if !is_own {
            self.more = self.more.saturating_add(since.all - totals.refills);
        }
    }

    /// What the JVM had not finished when it ended does not go on in the next one.
    fn end_run(&mut self) {
        for account in &mut self.accounts {
            account.close(None);
        }
        self.cycles.end();
        self.request = None;
        self.since_totals = SinceTotals::default();
    }

    /// The log has ended.
    pub fn finish(&mut self) {
        let mut unwrapper = std::mem::take(&mut self.unwrapper);
        unwrapper.finish(|one| self.unwrapped(&one));
        self.end_run();
        self.totals.collections = self.cycles.count();
    }

    /// The threads, in the order of their first lines.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The JDKs that wrote the lines, as far as they tell; more than one if logs of several JVMs were given.
    pub fn releases(&self) -> Vec<&'static str> {
        self.releases.names(self.skipped.damaged)
    }

    /// How many JVMs wrote the log, one after the other.
    pub fn jvms(&self) -> u64 {
        self.runs.count()
    }

    /// Whether the lines of several JVMs are mixed, so that nothing tells which collection a line is of.
    pub fn is_mixed(&self) -> bool {
        self.runs.are_mixed()
    }

    /// How the threads' lines at collections compare with the totals lines.
    pub fn agreement(&self) -> Agreement {
        match (self.more, self.missing) {
            _ if self.totals.lines == 0 || self.accounts.is_empty() => Agreement::Unknown,
            (0, 0) => Agreement::Same,
            (0, missing) => Agreement::Missing(missing),
            (more, _) => Agreement::More(more),
        }
    }

    fn index(&mut self, thread: ThreadId) -> usize {
        let next = self.accounts.len();
        let index = *self.indices.entry(thread).or_insert(next);
        if index == next {
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
