//! The bytes that each thread allocated between two collections: the input of a replay, and the
//! number of collections.
//!
//! A collection is a JVM's collection: lines with one number `GC(7)`. The order of its lines
//! differs by collector. The totals come after the threads' lines or before them. A collection
//! takes a thread's buffer away twice (Shenandoah, at the beginning and at the end of marking), or
//! logs totals twice (ZGC, of two generations). A thread that takes its own buffer away does not
//! know the number. Lines without a number belong to the next that has one. Where no line has one
//! (JDK 8, and a test's), a collection ends with totals, or with a second line of a thread once
//! sizes have changed.
//!
//! A log keeps 40 bytes per thread and collection, and at most `MOST_SHARES` of them; a longer log
//! is replayed only so far. The log does not name the eden's size. It follows from lines that use
//! it:
//!
//! ```text
//! used     = bytes expected of a thread / the share expected of it
//! capacity = new size * target refills / share                          at least `used`
//! ```
//!
//! both taken from the thread with the largest share, whose rounding is the smallest.
//!
//! Refused: counting the totals lines. Shenandoah has fewer of them than collections. Refused:
//! replaying while reading. The replay's limits, such as the largest buffer, are known only at the
//! end.

use super::account::{ClosedCycle, CycleSums};
use super::advice::AllocationCosts;
use super::line::{Resize, ThreadLine};
use super::objects::WaitingObjects;

/// The most threads' shares of cycles that are kept.
const MOST_SHARES: usize = 4 << 20;

/// HotSpot's default target of refills of a thread between two collections: 100 / (2 *
/// `TLABWasteTargetPercent`).
pub(super) const TARGET_REFILLS: u64 = 50;

/// The sums of one thread in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// The thread, as an index.
    pub(super) thread: u32,
    /// Objects it allocated outside its buffers while it kept them.
    pub(super) outside: u32,
    /// Bytes it allocated.
    pub(super) allocated: u64,
    /// They include those outside its buffers.
    pub(super) is_all: bool,
    /// Buffers it was given.
    pub(super) refills: u32,
    /// Bytes of one of them, on average.
    pub(super) buffer: u32,
    /// Bytes it dropped per refill.
    pub(super) dropped: u64,
}

/// A collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Collection {
    /// The index of the first share of the next cycle.
    pub(super) shares: usize,
    /// Used bytes of eden.
    pub(super) used: u64,
    /// Bytes of eden.
    pub(super) capacity: u64,
    /// The time, in ms.
    pub(super) ms: u64,
}

/// The cycles of a log.
#[derive(Clone, Debug, Default)]
pub struct Cycles {
    pub(super) shares: Vec<Share>,
    pub(super) ends: Vec<Collection>,
    /// The refills, slow allocations and waste in the collections that are kept.
    pub found: AllocationCosts,
    /// The objects that waited for a buffer.
    pub(super) waiting: WaitingObjects,
    /// Whether the log has more collections than are kept.
    pub is_cut: bool,
    /// Collections, kept or not.
    pub count: u64,
    open: OpenCycle,
    /// For each thread, the number of the collection, counted here, of its last line.
    seen: Vec<u64>,
}

/// The known facts of the cycle that ends.
#[derive(Clone, Debug, Default)]
struct OpenCycle {
    /// The cycle has lines of a collection, and not only changed sizes.
    is_collection: bool,
    number: Option<u64>,
    /// The totals have come.
    totals: bool,
    /// A size has changed after the collection.
    resized: bool,
    known: EdenFacts,
    /// The index of the first share of lines without a number that belong to the next collection.
    next: Option<(usize, EdenFacts)>,
}

/// The facts about the eden, each from the line with the largest share; and the time.
#[derive(Clone, Copy, Debug, Default)]
struct EdenFacts {
    used: (f64, u64),
    capacity: (f64, u64),
    ms: u64,
}

impl EdenFacts {
    fn add(&mut self, other: &EdenFacts) {
        let larger = |a: (f64, u64), b: (f64, u64)| if b.0 > a.0 { b } else { a };
        self.used = larger(self.used, other.used);
        self.capacity = larger(self.capacity, other.capacity);
        self.ms = self.ms.max(other.ms);
    }
}

impl Cycles {
    /// The number of collections that are kept.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes that threads allocated in the collections that are kept.
    pub(super) fn allocated(&self) -> u64 {
        self.shares.iter().fold(0, |sum, share| sum.saturating_add(share.allocated))
    }

    /// Whether no thread allocated anything.
    pub fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Takes in that a collection took a thread's buffer away, at a time in ns, if known.
    pub(super) fn gc(
        &mut self,
        thread: u32,
        line: &ThreadLine,
        number: Option<u64>,
        time: Option<u64>,
        closed: ClosedCycle,
    ) {
        let index = thread as usize;
        if self.seen.len() <= index {
            self.seen.resize(index + 1, 0);
        }
        let open = &self.open;
        // Counted from one; 0 means never.
        let again = self.seen[index] == self.count + 1;
        if number.is_none() && open.number.is_none() && (open.totals || (open.resized && again)) {
            self.finish();
        }
        let mut known = EdenFacts { ms: milliseconds(time), ..EdenFacts::default() };
        if let Some((fraction, bytes)) = line.expected
            && fraction > 0.0
        {
            known.used = (fraction, (bytes as f64 / fraction) as u64);
        }
        self.enter(number, true).add(&known);
        self.seen[index] = self.count + 1;
        if closed.allocated == 0 || self.is_cut {
            return;
        }
        if self.shares.len() == MOST_SHARES {
            // The cycle is incomplete.
            self.shares.truncate(self.ends.last().map_or(0, |end| end.shares));
            self.is_cut = true;
            return;
        }
        let found = &mut self.found;
        let CycleSums { refills, buffers, slow_allocations, waste } = closed.sums;
        found.refills = found.refills.saturating_add(refills);
        found.slow_allocations = found.slow_allocations.saturating_add(slow_allocations);
        found.waste = found.waste.saturating_add(waste.sum());
        let most = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        self.shares.push(Share {
            thread,
            outside: most(slow_allocations),
            allocated: closed.allocated,
            is_all: closed.is_all,
            refills: most(refills),
            buffer: most(buffers / refills.max(1)),
            dropped: waste.slow.saturating_add(waste.fast) / refills.max(1),
        });
    }

    /// Takes in a collection's totals, at a time in ns, if known.
    pub(super) fn totals(&mut self, number: Option<u64>, time: Option<u64>) {
        if number.is_none() && self.open.number.is_none() && self.open.totals {
            self.finish();
        }
        self.enter(number, true).add(&EdenFacts { ms: milliseconds(time), ..EdenFacts::default() });
        self.open.totals = true;
    }

    /// Takes in the change of a thread's size.
    pub(super) fn resize(&mut self, line: &Resize, number: Option<u64>) {
        let mut known = EdenFacts::default();
        if line.fraction > 0.0 {
            let all = line.to as f64 * line.target.unwrap_or(TARGET_REFILLS) as f64;
            known.capacity = (line.fraction, (all / line.fraction) as u64);
        }
        self.enter(number, false).add(&known);
        self.open.resized = true;
    }

    /// The facts that a line adds to. `is_collection`: the line is a collection's.
    fn enter(&mut self, number: Option<u64>, is_collection: bool) -> &mut EdenFacts {
        match (self.open.number, number) {
            (Some(one), Some(other)) if one != other => self.finish(),
            (None, Some(_)) if self.open.totals => self.finish(),
            (Some(_), None) if is_collection || self.open.next.is_some() => {
                let from = self.shares.len();
                return &mut self.open.next.get_or_insert((from, EdenFacts::default())).1;
            }
            _ => {}
        }
        if number.is_some() {
            self.take_next();
            self.open.number = number;
        }
        self.open.is_collection |= is_collection;
        &mut self.open.known
    }

    /// Moves lines of the next collection to this one.
    fn take_next(&mut self) {
        if let Some((_, known)) = self.open.next.take() {
            self.open.known.add(&known);
        }
    }

    /// Ends the log, or the JVM's run.
    pub(super) fn end(&mut self) {
        self.take_next();
        self.finish();
    }

    /// Ends the collection before another.
    fn finish(&mut self) {
        let open = std::mem::take(&mut self.open);
        let until = open.next.map_or(self.shares.len(), |(from, _)| from);
        if let Some((_, known)) = open.next {
            self.open = OpenCycle { is_collection: true, known, ..OpenCycle::default() };
        }
        if !open.is_collection {
            return;
        }
        self.count += 1;
        if self.is_cut {
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
        self.ends.push(Collection { shares: until, used, capacity: capacity.max(used), ms });
    }
}

fn milliseconds(time: Option<u64>) -> u64 {
    time.map_or(0, |ns| ns / 1_000_000)
}
