//! The sums of one thread's lines.
//!
//! The counts in a line are those since the last collection, and a collection's line is their last
//! state. So an account has an open cycle, which lines overwrite, and the sums of closed cycles. A
//! line whose count of refills does not exceed the one before begins a new cycle, since the
//! collection's line may be missing: lost by asynchronous logging, or in a missing file.
//!
//! Only the newest dialect gives the size of a buffer. In the others the size is taken from the
//! request before the refill, or else from the size that the thread desires. It is then moved into
//! the bounds that the logged percentage of waste implies. So where a collector gives less than
//! requested (Epsilon, or G1 at the end of a region), the sum is still right to a few percent
//! wherever anything was wasted.

use super::line::{Dialect, ThreadId, ThreadLine, Waste};

/// The sizes that a thread desired, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sizes {
    /// The size in its first line.
    pub first: u64,
    /// The size in its last line.
    pub last: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

/// The sums of a thread over all its cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Account {
    /// The thread.
    pub thread: ThreadId,
    /// Buffers that the thread was given.
    pub refills: u64,
    /// The most buffers between two collections.
    pub most_refills: u64,
    /// Cycles in which the thread was given buffers.
    pub cycles: u64,
    /// Objects that the thread allocated outside its buffers while it kept them.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
    /// Bytes of the thread's buffers.
    pub buffers: u64,
    /// Bytes that the thread allocated: as logged in the newest dialect, otherwise the bytes in its
    /// buffers.
    pub allocated: u64,
    /// The desired sizes, if any line gives one.
    pub sizes: Option<Sizes>,
    /// The sums of the cycle that has not ended.
    open: CycleSums,
    /// Refills of cycles whose collection's line is missing.
    pub(super) lost: u64,
    /// The last line of the open cycle, and that of the last collection.
    last: Option<Seen>,
    last_gc: Option<Seen>,
    /// Refills in the thread's last line of any kind.
    before: u64,
}

/// The identity of a line among the others of its thread.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seen {
    when: When,
    refills: u64,
    slow_allocations: u64,
    waste: Option<Waste>,
}

/// The time of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct When {
    /// In ns, if known.
    pub(super) time: Option<u64>,
    /// The time is of the JVM's own clock, which does not go back.
    pub(super) is_uptime: bool,
    /// The number of the collection.
    pub(super) number: Option<u64>,
}

impl When {
    /// Whether this line was certainly written before another.
    pub(super) fn is_before(&self, other: &When) -> bool {
        self.is_uptime && self.time.zip(other.time).is_some_and(|(now, then)| now < then)
    }
}

impl Seen {
    fn new(line: &ThreadLine, when: When) -> Self {
        let (refills, slow_allocations, waste) = (line.refills, line.slow_allocations, line.waste);
        Self { when, refills, slow_allocations, waste }
    }
}

/// A thread's sums between two collections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CycleSums {
    /// Buffers that it was given, and their bytes.
    pub(super) refills: u64,
    pub(super) buffers: u64,
    /// Objects that it allocated outside its buffers while it kept them.
    pub(super) slow_allocations: u64,
    /// Bytes thrown away.
    pub(super) waste: Waste,
}

/// A thread's cycle that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClosedCycle {
    pub(super) sums: CycleSums,
    /// Bytes that the thread allocated.
    pub(super) allocated: u64,
    /// They include those outside its buffers.
    pub(super) is_all: bool,
}

impl Account {
    pub(super) fn new(thread: ThreadId) -> Self {
        Self { thread, ..Self::default() }
    }

    /// Adds the sums of another thread.
    pub(super) fn add(&mut self, other: &Account) {
        let sums = [
            (&mut self.refills, other.refills),
            (&mut self.slow_allocations, other.slow_allocations),
            (&mut self.buffers, other.buffers),
            (&mut self.allocated, other.allocated),
            (&mut self.lost, other.lost),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.most_refills = self.most_refills.max(other.most_refills);
        self.waste.add(&other.waste);
    }

    /// Takes in a refill. `requested` is the size requested just before, if a line gives it.
    pub(super) fn fill(&mut self, line: &ThreadLine, requested: Option<u64>, when: When) {
        if line.refills <= self.open.refills {
            self.lose();
        }
        self.last = Some(Seen::new(line, when));
        self.update(line, requested);
    }

    /// Takes in a collection, and returns the thread's sums before it.
    pub(super) fn gc(&mut self, line: &ThreadLine, when: When) -> ClosedCycle {
        if line.refills < self.open.refills {
            self.lose();
        }
        self.last_gc = Some(Seen::new(line, when));
        self.update(line, None);
        self.close(line.allocated)
    }

    /// Whether a refill's line has occurred before: collectors of logs send lines again that may
    /// have been lost. In an open cycle times rise with the counts, and none is older than the
    /// collection before.
    pub(super) fn is_repeated_fill(&self, line: &ThreadLine, when: When) -> bool {
        let seen = Seen::new(line, when);
        let again = self.last.is_some_and(|last| {
            let is_older = when.is_before(&last.when)
                || when.is_uptime && when.time == last.when.time && line.refills < self.open.refills;
            // Without times, two cycles of one refill each look alike.
            let is_same = seen == last && (when.time.is_some() || line.refills > 1);
            line.refills <= self.open.refills && (is_older || is_same)
        });
        line.refills > 0 && (again || self.last_gc.is_some_and(|gc| when.is_before(&gc.when)))
    }

    /// Whether a collection's line has occurred before.
    pub(super) fn is_repeated_gc(&self, line: &ThreadLine, when: When) -> bool {
        let Some(gc) = self.last_gc.filter(|_| line.refills > 0) else { return false };
        // Shenandoah takes a buffer away twice in a collection; refills between the two are not
        // repeats.
        let is_next = self.open.refills == 0 || self.last.is_some_and(|last| when.is_before(&last.when));
        let is_known = when.time.is_some() || when.number.is_some();
        let is_older =
            when.is_before(&gc.when) && when.number.is_none_or(|number| Some(number) <= gc.when.number);
        is_older || is_known && is_next && gc == Seen::new(line, when)
    }

    /// The change of the count of refills since the line before, if it is one up or down.
    pub(super) fn step(&mut self, line: &ThreadLine) -> i64 {
        let before = std::mem::replace(&mut self.before, line.refills);
        i64::from(before.checked_add(1) == Some(line.refills))
            - i64::from(line.refills.checked_add(1) == Some(before))
    }

    /// Ends the JVM's run, and its open cycle.
    pub(super) fn end_run(&mut self) {
        self.close(None);
        (self.last_gc, self.before) = (None, 0);
    }

    /// Ends the open cycle, whose collection's line is missing.
    fn lose(&mut self) {
        self.lost = self.lost.saturating_add(self.open.refills);
        self.close(None);
    }

    /// Records a size that the thread desires.
    pub(super) fn desires(&mut self, size: u64) {
        let Sizes { first, min, max, .. } =
            self.sizes.unwrap_or(Sizes { first: size, last: size, min: size, max: size });
        self.sizes = Some(Sizes { first, last: size, min: min.min(size), max: max.max(size) });
    }

    fn update(&mut self, line: &ThreadLine, requested: Option<u64>) {
        if let Some(size) = line.desired {
            self.desires(size);
        }
        let new = line.refills - self.open.refills.min(line.refills);
        let desired = line.desired.or(self.sizes.map(|sizes| sizes.last)).unwrap_or(0);
        let size = line.capacity.or(requested).unwrap_or(desired);
        let open = &mut self.open;
        open.buffers = open.buffers.saturating_add(size.saturating_mul(new));
        open.refills = line.refills;
        open.slow_allocations = line.slow_allocations;
        if let Some(waste) = line.waste {
            open.waste = waste;
            if let Some((least, most)) = bounds(waste.sum(), line.waste_percent) {
                open.buffers = open.buffers.clamp(least, most);
            }
        }
    }

    /// Ends the open cycle, and returns its sums.
    pub(super) fn close(&mut self, allocated: Option<u64>) -> ClosedCycle {
        let open = std::mem::take(&mut self.open);
        self.last = None;
        let is_all = allocated.is_some();
        let allocated = allocated.unwrap_or_else(|| open.buffers.saturating_sub(open.waste.sum()));
        self.cycles += u64::from(open.refills > 0);
        self.refills = self.refills.saturating_add(open.refills);
        self.most_refills = self.most_refills.max(open.refills);
        self.slow_allocations = self.slow_allocations.saturating_add(open.slow_allocations);
        self.waste.add(&open.waste);
        self.buffers = self.buffers.saturating_add(open.buffers);
        self.allocated = self.allocated.saturating_add(allocated);
        ClosedCycle { sums: open, allocated, is_all }
    }
}

/// The fewest and the most bytes of which `waste` bytes are `percent`, which was rounded to a
/// tenth.
///
/// `None` where the percentage gives no bounds: nothing was wasted, or less than the rounding.
pub(super) fn bounds(waste: u64, percent: Option<f64>) -> Option<(u64, u64)> {
    const HALF_OF_LAST_PLACE: f64 = 0.05;
    let percent = percent.filter(|percent| waste > 0 && *percent > HALF_OF_LAST_PLACE)?;
    let hundred = waste as f64 * 100.0;
    let least = (hundred / (percent + HALF_OF_LAST_PLACE)) as u64;
    // The quotient of floats may lie a byte below the exact value.
    Some((least, ((hundred / (percent - HALF_OF_LAST_PLACE)) as u64).saturating_add(1).max(least)))
}

/// The size of a refill that a request announced, if the request is this thread's: threads' lines
/// interleave.
pub(super) fn announced(line: &ThreadLine, request: Option<super::Request>) -> Option<u64> {
    const KIB: u64 = 1 << 10;
    if line.dialect == Dialect::Capacity {
        return None;
    }
    let (request, desired) = (request?, line.desired?);
    let most = desired.saturating_add(KIB).saturating_add(request.object);
    request.size.filter(|size| *size <= most)
}
