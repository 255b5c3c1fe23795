//! What all lines of a log add up to.

use super::account::{Account, announced};
use super::cycles::Cycles;
use super::history::History;
use super::line::{Dialect, Line, Request, ThreadId, Waste, parse, time};
use std::collections::{BTreeSet, HashMap};

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
    /// Collections.
    pub collections: u64,
    /// Most threads that were given buffers before one of them.
    pub most_threads: u64,
    /// Buffers given.
    pub refills: u64,
    /// Objects allocated outside of kept buffers.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
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
    /// What thread lines of collections added up to, to be compared with the totals.
    pub(super) collected: u64,
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
    dialects: BTreeSet<Dialect>,
    request: Option<Request>,
}

impl Log {
    /// Takes in a line without its end. `whole`: its end was there.
    pub fn line(&mut self, line: &[u8], whole: bool) {
        match parse(line, whole) {
            Line::Foreign => {
                self.skipped.foreign += u64::from(!line.is_empty());
                return;
            }
            Line::Damaged => {
                self.skipped.damaged += 1;
                return;
            }
            Line::Request(request) => {
                self.refused += u64::from(request.size.is_none());
                self.request = Some(request);
            }
            Line::Fill(fill) => {
                self.dialects.insert(fill.dialect);
                let requested = announced(&fill, self.request.take());
                let index = self.index(fill.thread);
                self.accounts[index].fill(&fill, requested);
            }
            Line::Gc(gc) => {
                self.dialects.insert(gc.dialect);
                self.collected = self.collected.saturating_add(gc.refills);
                let index = self.index(gc.thread);
                let closed = self.accounts[index].gc(&gc);
                if let (Some(size), Some(time)) = (gc.desired, time(line)) {
                    self.history.add(index, time, size);
                }
                // A log has fewer threads than this, or the index would not fit in memory.
                self.cycles.gc(index as u32, &gc, closed);
            }
            Line::Resize(resize) => {
                self.dialects.insert(resize.dialect);
                self.target = resize.target.or(self.target);
                let index = self.index(resize.thread);
                self.accounts[index].desires(resize.to);
                if let Some(time) = time(line) {
                    self.history.add(index, time, resize.to);
                }
                self.cycles.resize(&resize);
            }
            Line::Totals(totals) => {
                self.dialects.insert(totals.dialect);
                self.cycles.totals(time(line));
                let sum = &mut self.totals;
                sum.collections += 1;
                sum.most_threads = sum.most_threads.max(totals.threads);
                sum.refills = sum.refills.saturating_add(totals.refills);
                sum.slow_allocations = sum.slow_allocations.saturating_add(totals.slow_allocations);
                sum.waste.add(&totals.waste);
            }
        }
        self.read += 1;
    }

    /// The log has ended.
    pub fn finish(&mut self) {
        for account in &mut self.accounts {
            account.close(None);
        }
        self.cycles.finish();
    }

    /// The threads, in the order of their first lines.
    pub fn accounts(&self) -> &[Account] {
        &self.accounts
    }

    /// The dialects of the lines; of more than one if logs of several JVMs were given.
    pub fn dialects(&self) -> impl Iterator<Item = Dialect> + '_ {
        self.dialects.iter().copied()
    }

    /// Refills by the totals lines less those by the threads' lines at collections; none where one kind is
    /// missing. Not zero if lines are missing.
    pub fn missing_refills(&self) -> Option<i128> {
        let both = self.totals.collections > 0 && !self.accounts.is_empty();
        both.then(|| i128::from(self.totals.refills) - i128::from(self.collected))
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
