//! Threads that starve and threads that hoard, and the conditions under which no verdict is
//! possible.
//!
//! Both are errors of the sizing. A starving thread allocates more than its buffers are made for,
//! and pays with refills or with the slow path. A hoarding thread allocates less, and its
//! collections discard unused memory. The limits are coarse on purpose: twice the refills that the
//! JVM aims at, a quarter of the memory. "Nothing is wrong" is a verdict as well, and equally wrong
//! where the log lacks the data for it.

use super::account::Account;
use super::cycles::TARGET_REFILLS;
use super::log::Log;

/// The number of slow allocations below which no thread is said to starve.
const FEW: u64 = 100;

/// Bytes of waste below which no thread is said to hoard.
const LITTLE: u64 = 64 << 10;

/// A fault of a thread's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// More than twice as many refills between two collections as the JVM aims at.
    ManyRefills,
    /// More objects outside than buffers, and at least 100.
    ManySlowAllocations,
    /// At least a quarter of the bytes of its buffers was left in them at collections, and at least
    /// 64 KiB.
    Hoards,
}

impl Verdict {
    /// The word in the table's column.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::ManyRefills => "starves: refills",
            Verdict::ManySlowAllocations => "starves: slow path",
            Verdict::Hoards => "hoards",
        }
    }
}

/// The verdicts that a log allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judge {
    silence: Option<String>,
    /// Refills and waste are judged between two collections, so not in a log without collections.
    collected: bool,
    target: u64,
}

impl Judge {
    /// The judge of a log that has been read.
    pub fn of(log: &Log) -> Judge {
        Judge { silence: silence(log), collected: log.cycles.count > 0, target: log.target() }
    }

    /// Why no verdict is possible, and the missing data; `None` if a verdict is possible.
    pub fn silence(&self) -> Option<&str> {
        self.silence.as_deref()
    }

    /// The faults of a thread's buffers.
    pub fn verdicts(&self, account: &Account) -> Vec<Verdict> {
        if self.silence.is_some() {
            return Vec::new();
        }
        let (slow, gc) = (account.slow_allocations, account.waste.gc);
        let hoards = gc >= LITTLE && account.buffers > 0 && gc >= account.buffers / 4;
        [
            (self.collected && account.most_refills > self.target.saturating_mul(2), Verdict::ManyRefills),
            (slow >= FEW && slow > account.refills, Verdict::ManySlowAllocations),
            (self.collected && hoards, Verdict::Hoards),
        ]
        .into_iter()
        .filter_map(|(is, verdict)| is.then_some(verdict))
        .collect()
    }

    /// The names of these faults.
    pub fn names(&self, account: &Account) -> Vec<&'static str> {
        self.verdicts(account).into_iter().map(Verdict::name).collect()
    }
}

/// Why no verdict on a log's threads is possible.
fn silence(log: &Log) -> Option<String> {
    let (read, damaged) = (log.read, log.skipped.damaged);
    let lines = read.saturating_add(damaged);
    let all = log.sum();
    if is_fifth(damaged, lines) {
        return Some(format!(
            "no verdict: {damaged} of the {lines} lines about TLABs are damaged ({:.0} %); log to a file of its \
             own, -Xlog:gc+tlab=trace:file=tlab.log",
            damaged as f64 * 100.0 / lines as f64
        ));
    }
    if log.accounts().is_empty() {
        return Some("the threads are not in the log: it takes -Xlog:gc+tlab=trace to have them".into());
    }
    if log.is_newest_first() {
        return Some("no verdict: newest line first; give `tac FILE`".into());
    }
    if log.is_mixed() {
        return Some(format!(
            "no verdict: lines of {} JVMs are mixed; give each one's log by itself, such as \
             `docker compose logs --no-log-prefix SERVICE`",
            log.jvms()
        ));
    }
    if all.refills == 0 && all.slow_allocations == 0 {
        return Some(
            "no verdict: no line tells of a buffer that a thread was given, or of an object outside of one; \
             -Xlog:gc+tlab=trace from the JVM's start has a line for each buffer"
                .into(),
        );
    }
    let (compared, totals) = (log.compared, log.totals.refills);
    let exceeds = compared.refills / 6 > totals / 5 && compared.lost > totals / 10;
    if log.totals.lines > 0 && exceeds {
        return Some(format!(
            "no verdict: the threads' lines have {} refills and the totals have {totals}; lines came twice, or in \
             another order than they were written in",
            compared.refills
        ));
    }
    // Concurrent collectors' totals are not the sums of the lines before them.
    let (missing, of) = if log.is_shenandoah() || log.is_zgc() {
        (all.lost, all.refills)
    } else {
        log.difference().map_or((0, 0), |difference| (difference.missing, totals))
    };
    is_fifth(missing, of).then(|| {
        format!(
            "no verdict: the threads' lines of {missing} of {of} refills are missing; where -Xlog:async dropped \
             them, give it a larger -XX:AsyncLogBufferSize"
        )
    })
}

/// Whether a part is a fifth of the whole or more.
fn is_fifth(part: u64, whole: u64) -> bool {
    part > 0 && part >= whole.div_ceil(5)
}

impl Log {
    /// The JVM's target: refills of a thread between two collections.
    pub fn target(&self) -> u64 {
        self.target.unwrap_or(TARGET_REFILLS)
    }
}
