//! Who allocated how much between two collections: what a replay is fed with, and how many collections there
//! are, for whoever says so.
//!
//! A collection is what the JVM calls one: lines with one number `GC(7)`. What it logs of one is in no order
//! that all collectors keep: the totals come behind the threads' lines or before them, a collection takes a
//! thread's buffer away twice (Shenandoah, at the beginning and at the end of marking), or logs totals twice
//! (ZGC, of two generations), and a thread that takes its own buffer away does not know the number. Lines
//! without a number belong to the next that has one. Where no line has one (JDK 8, and a test's), totals end
//! a collection, and so does a thread that comes for the second time once sizes have changed. Counting the
//! totals lines was refused: Shenandoah has fewer of them than collections.
//!
//! 24 bytes per thread and collection, and no more than `MOST_SHARES` of them: a longer log is replayed as
//! far as that. Replaying while reading was refused: limits that the replay needs, such as the largest
//! buffer, are known at the end only.
//!
//! The log does not name the eden's size. It follows from the lines that make use of it:
//!
//! ```text
//! used     = bytes expected of a thread / the share expected of it
//! capacity = new size * target refills / share                          at least `used`
//! ```
//!
//! both taken from the thread with the largest share, whose rounding is the smallest.

use super::account::Closed;
use super::line::{Resize, ThreadLine};

/// Threads' shares of cycles that are kept.
const MOST_SHARES: usize = 4 << 20;

/// HotSpot's default: 100 / (2 * `TLABWasteTargetPercent`).
pub(super) const TARGET_REFILLS: u64 = 50;

/// What one thread did in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The thread, as an index.
    pub(super) thread: u32,
    /// Bytes it allocated.
    pub(super) allocated: u64,
    /// Bytes it dropped per refill.
    pub(super) dropped: u64,
}

/// A collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Where the shares of the next cycle begin.
    pub(super) shares: usize,
    /// Bytes of eden that were used.
    pub(super) used: u64,
    /// Bytes of eden.
    pub(super) capacity: u64,
    /// When it was, in ms.
    pub(super) ms: u64,
}

/// The cycles of a log.
#[derive(Clone, Debug, Default)]
pub struct Cycles {
    pub(super) shares: Vec<Share>,
    pub(super) ends: Vec<End>,
    /// Whether there were more than are kept.
    pub(super) cut: bool,
    /// Collections, kept or not.
    count: u64,
    open: Open,
    /// Of each thread the number of the collection, counted here, at which it had its last line.
    seen: Vec<u64>,
}

/// What is known of the cycle that ends.
#[derive(Clone, Debug, Default)]
struct Open {
    /// It has lines of a collection, and not only sizes that changed.
    is: bool,
    number: Option<u64>,
    /// Its totals have come.
    totals: bool,
    /// A size has changed behind it.
    resized: bool,
    known: Known,
    /// Where the shares of lines without a number begin that belong to the next.
    next: Option<(usize, Known)>,
}

/// What lines tell of the eden, each by the largest share; and when.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    used: (f64, u64),
    capacity: (f64, u64),
    ms: u64,
}

impl Known {
    fn add(&mut self, other: &Known) {
        let larger = |a: (f64, u64), b: (f64, u64)| if b.0 > a.0 { b } else { a };
        self.used = larger(self.used, other.used);
        self.capacity = larger(self.capacity, other.capacity);
        self.ms = self.ms.max(other.ms);
    }
}

impl Cycles {
    /// How many collections there are, those included that are not kept.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is nothing that a thread allocated.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Whether the log has more than are kept.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// A collection took a thread's buffer away, at a time in ns, if known.
    pub(super) fn gc(
        &mut self,
        thread: u32,
        line: &ThreadLine,
        number: Option<u64>,
        time: Option<u64>,
        closed: Closed,
    ) {
        let index = thread as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, 0);
        }
        let open = &self.open;
        // Counted from one: 0 is never.
        let again = self.seen[index] == self.count + 1;
        if number.is_none() && open.number.is_none() && (open.totals || (open.resized && again)) {
            self.finish();
        }
        let mut known = Known { ms: milliseconds(time), ..Known::default() };
        if let Some((fraction, bytes)) = line.expected
            && fraction > 0.0
        {
            known.used = (fraction, (bytes as f64 / fraction) as u64);
        }
        self.enter(number, true).add(&known);
        self.seen[index] = self.count + 1;
        if closed.allocated == 0 || self.cut {
            return;
        }
        if self.shares.len() == MOST_SHARES {
            // The cycle is not whole.
            self.shares.truncate(self.ends.last().map_or(0, |end| end.shares));
            self.cut = true;
            return;
        }
        let dropped = closed.dropped / closed.refills.max(1);
        self.shares.push(Share { thread, allocated: closed.allocated, dropped });
    }

    /// A collection's totals, at a time in ns, if known.
    pub(super) fn totals(&mut self, number: Option<u64>, time: Option<u64>) {
        if number.is_none() && self.open.number.is_none() && self.open.totals {
            self.finish();
        }
        self.enter(number, true).add(&Known { ms: milliseconds(time), ..Known::default() });
        self.open.totals = true;
    }

    /// A thread's size changed.
    pub(super) fn resize(&mut self, line: &Resize, number: Option<u64>) {
        let mut known = Known::default();
        if line.fraction > 0.0 {
            let all = line.to as f64 * line.target.unwrap_or(TARGET_REFILLS) as f64;
            known.capacity = (line.fraction, (all / line.fraction) as u64);
        }
        self.enter(number, false).add(&known);
        self.open.resized = true;
    }

    /// The place of what a line tells; `is`: it is a collection's.
    fn enter(&mut self, number: Option<u64>, is: bool) -> &mut Known {
        match (self.open.number, number) {
            (Some(one), Some(other)) if one != other => self.finish(),
            (None, Some(_)) if self.open.totals => self.finish(),
            (Some(_), None) if is || self.open.next.is_some() => {
                let from = self.shares.len();
                return &mut self.open.next.get_or_insert((from, Known::default())).1;
            }
            _ => {}
        }
        if number.is_some() {
            self.take_next();
            self.open.number = number;
        }
        self.open.is |= is;
        &mut self.open.known
    }

    /// What belonged to the next belongs to this one.
    fn take_next(&mut self) {
        if let Some((_, known)) = self.open.next.take() {
            self.open.known.add(&known);
        }
    }

    /// The log has ended, or the JVM.
    pub(super) fn end(&mut self) {
        self.take_next();
        self.finish();
    }

    /// The collection before another has ended.
    fn finish(&mut self) {
        let open = std::mem::take(&mut self.open);
        let until = open.next.map_or(self.shares.len(), |(from, _)| from);
        if let Some((_, known)) = open.next {
            self.open = Open { is: true, known, ..Open::default() };
        }
        if !open.is {
            return;
        }
        self.count += 1;
        if self.cut {
            return;
        }
        let last = self.ends.last().copied();
        let known = open.known;
        let shares = &self.shares[last.map_or(0, |end| end.shares)..until];
        let allocated = shares.iter().fold(0, |sum: u64, share| sum.saturating_add(share.allocated));
        let used = if known.used.1 > 0 { known.used.1 } else { allocated };
        let capacity =
            if known.capacity.1 > 0 { known.capacity.1 } else { last.map_or(0, |end| end.capacity) };
        let ms = known.ms.max(last.map_or(0, |end| end.ms));
        self.ends.push(End { shares: until, used, capacity: capacity.max(used), ms });
    }
}

fn milliseconds(time: Option<u64>) -> u64 {
    time.map_or(0, |ns| ns / 1_000_000)
}
