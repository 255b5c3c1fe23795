//! Who allocated how much between two collections: what a replay is fed with.
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
    open: Open,
}

/// What is known of the cycle that ends.
#[derive(Clone, Debug, Default)]
struct Open {
    /// A collection's lines have come to their end; resize lines may follow.
    ended: bool,
    ms: u64,
    allocated: u64,
    used: (f64, u64),
    capacity: (f64, u64),
}

impl Cycles {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether the log has more than are kept.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// A collection took a thread's buffer away.
    pub(super) fn gc(&mut self, thread: u32, line: &ThreadLine, closed: Closed) {
        if self.open.ended {
            self.finish();
        }
        if let Some((fraction, bytes)) = line.expected
            && fraction > self.open.used.0
        {
            self.open.used = (fraction, (bytes as f64 / fraction) as u64);
        }
        self.open.allocated = self.open.allocated.saturating_add(closed.allocated);
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
    pub(super) fn totals(&mut self, time: Option<u64>) {
        if self.open.ended {
            self.finish();
        }
        self.open.ended = true;
        self.open.ms = time.map_or(0, |ns| ns / 1_000_000);
    }

    /// A thread's size changed.
    pub(super) fn resize(&mut self, line: &Resize) {
        self.open.ended = true;
        if line.fraction > self.open.capacity.0 {
            let all = line.to as f64 * line.target.unwrap_or(TARGET_REFILLS) as f64;
            self.open.capacity = (line.fraction, (all / line.fraction) as u64);
        }
    }

    /// The log, or the collection before another, has ended.
    pub(super) fn finish(&mut self) {
        let open = std::mem::take(&mut self.open);
        let last = self.ends.last().copied();
        let before = last.map_or(0, |end| end.shares);
        if self.cut || !open.ended || self.shares.len() == before {
            return;
        }
        let used = if open.used.1 > 0 { open.used.1 } else { open.allocated };
        let known = if open.capacity.1 > 0 { open.capacity.1 } else { last.map_or(0, |end| end.capacity) };
        let ms = open.ms.max(last.map_or(0, |end| end.ms));
        self.ends.push(End { shares: self.shares.len(), used, capacity: known.max(used), ms });
    }
}
