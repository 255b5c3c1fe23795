//! What one thread's lines add up to.
//!
//! The counts in a line are those since the last collection; a collection's line is their last state. So an
//! account has an open cycle, which lines overwrite, and what is closed. A line whose count of refills does
//! not exceed the one before begins a new cycle, for the collection's line may be missing: lost by
//! asynchronous logging, or in a file that is.
//!
//! How large buffers are is told by the newest dialect only. In the others it is taken from the request
//! before the refill, or else from the size that the thread desires, and then moved into the bounds that
//! the logged percentage of waste implies. So where a collector gives less than was asked for (Epsilon, or
//! G1 at the end of a region), the sum is still right to a few percent wherever anything was wasted.

use super::line::{Dialect, ThreadId, ThreadLine, Waste};

/// The sizes that a thread desired, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sizes {
    /// In its first line.
    pub first: u64,
    /// In its last line.
    pub last: u64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

/// What a thread did, all its cycles together.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The thread.
    pub thread: ThreadId,
    /// Buffers it was given.
    pub refills: u64,
    /// The most buffers it was given between two collections.
    pub most_refills: u64,
    /// Collections before which it was given buffers.
    pub cycles: u64,
    /// Objects it allocated outside its buffers while it kept them.
    pub slow_allocations: u64,
    /// Bytes thrown away.
    pub waste: Waste,
    /// Bytes of the buffers it was given.
    pub buffers: u64,
    /// Bytes it allocated: as logged in the newest dialect, otherwise those in its buffers.
    pub allocated: u64,
    /// The sizes it desired, if any line tells.
    pub sizes: Option<Sizes>,
    open: Open,
}

/// The cycle that has not ended.
#[derive(Clone, Debug, Default, PartialEq)]
struct Open {
    refills: u64,
    slow_allocations: u64,
    waste: Waste,
    buffers: u64,
}

/// What a thread did between two collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    /// Bytes it allocated.
    pub(super) allocated: u64,
    /// Buffers it was given.
    pub(super) refills: u64,
    /// Bytes that were left in buffers it dropped.
    pub(super) dropped: u64,
}

impl Account {
    pub(super) fn new(thread: ThreadId) -> Self {
        Self {
            thread,
            refills: 0,
            most_refills: 0,
            cycles: 0,
            slow_allocations: 0,
            waste: Waste::default(),
            buffers: 0,
            allocated: 0,
            sizes: None,
            open: Open::default(),
        }
    }

    /// Takes in a refill. `requested`: the size asked for just before, if a line tells.
    pub(super) fn fill(&mut self, line: &ThreadLine, requested: Option<u64>) {
        if line.refills <= self.open.refills {
            self.close(None);
        }
        self.update(line, requested);
    }

    /// Takes in a collection; what the thread did before it.
    pub(super) fn gc(&mut self, line: &ThreadLine) -> Closed {
        if line.refills < self.open.refills {
            self.close(None);
        }
        self.update(line, None);
        self.close(line.allocated)
    }

    /// Notes a size that the thread desires.
    pub(super) fn desires(&mut self, size: u64) {
        match &mut self.sizes {
            Some(sizes) => {
                *sizes = Sizes {
                    first: sizes.first,
                    last: size,
                    min: sizes.min.min(size),
                    max: sizes.max.max(size),
                };
            }
            none => *none = Some(Sizes { first: size, last: size, min: size, max: size }),
        }
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

    /// Ends the open cycle; what was done in it.
    pub(super) fn close(&mut self, allocated: Option<u64>) -> Closed {
        let open = std::mem::take(&mut self.open);
        let allocated = allocated.unwrap_or_else(|| open.buffers.saturating_sub(open.waste.sum()));
        self.cycles += u64::from(open.refills > 0);
        self.refills = self.refills.saturating_add(open.refills);
        self.most_refills = self.most_refills.max(open.refills);
        self.slow_allocations = self.slow_allocations.saturating_add(open.slow_allocations);
        self.waste.add(&open.waste);
        self.buffers = self.buffers.saturating_add(open.buffers);
        self.allocated = self.allocated.saturating_add(allocated);
        Closed { allocated, refills: open.refills, dropped: open.waste.slow.saturating_add(open.waste.fast) }
    }
}

/// The fewest and the most bytes of which `waste` bytes are `percent`, which was rounded to a tenth.
///
/// None where the percentage says nothing: nothing was wasted, or less than the rounding.
pub(super) fn bounds(waste: u64, percent: Option<f64>) -> Option<(u64, u64)> {
    const HALF_OF_LAST_PLACE: f64 = 0.05;
    let percent = percent.filter(|percent| waste > 0 && *percent > HALF_OF_LAST_PLACE)?;
    let hundred = waste as f64 * 100.0;
    let least = (hundred / (percent + HALF_OF_LAST_PLACE)) as u64;
    // The quotient of floats may lie a byte below.
    Some((least, ((hundred / (percent - HALF_OF_LAST_PLACE)) as u64).saturating_add(1).max(least)))
}

/// The size of a refill that a request announced, if it is this thread's: threads' lines interleave.
pub(super) fn announced(line: &ThreadLine, request: Option<super::Request>) -> Option<u64> {
    const KIB: u64 = 1 << 10;
    if line.dialect == Dialect::Capacity {
        return None;
    }
    let (request, desired) = (request?, line.desired?);
    let most = desired.saturating_add(KIB).saturating_add(request.object);
    request.size.filter(|size| *size <= most)
}
