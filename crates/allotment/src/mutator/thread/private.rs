//! The regions that one thread fills alone, once it has taken a [mark](crate::mutator::Mark).
//!
//! There is a log of the filled regions and a stack of the emptied ones. The hottest emptied region
//! is on top, where caches hold some of them. [`recycle`](crate::mutator::alloc::recycle) says why
//! a stop ends the ownership.

use crate::region::{Carve, Space, State};

/// The regions a thread fills alone.
#[derive(Default)]
pub(in crate::mutator) struct Private {
    /// Regions and humongous runs (by their first region) taken, oldest first.
    log: Vec<usize>,
    /// The region being filled.
    current: Option<usize>,
    /// Emptied regions, the one to be filled next on top.
    reuse: Vec<usize>,
}

/// A moment of the filling.
#[derive(Clone, Copy, Debug)]
pub(in crate::mutator) struct LogPosition {
    /// Number of entries in the log.
    logged: usize,
    /// The top of the region that was being filled; 0 if there was none.
    region_top: usize,
}

impl Private {
    /// The current moment.
    pub(in crate::mutator) fn moment(&self, space: &Space) -> LogPosition {
        let top = |index| space.free.table().get(index).top();
        LogPosition { logged: self.log.len(), region_top: self.current.map_or(0, top) }
    }

    /// Takes `bytes` of the current region, or of the next.
    pub(in crate::mutator) fn carve(&mut self, space: &Space, bytes: usize) -> Option<Carve> {
        let index = self.region_with(space, bytes)?;
        let start = space.free.table().get(index).top();
        Some(take(space, index, start + bytes))
    }

    /// Takes a buffer: the whole rest of the current region, or the next region if the current one
    /// has less than `bytes`. The rest of a smaller buffer would be of use to this thread only.
    pub(in crate::mutator) fn rest(&mut self, space: &Space, bytes: usize) -> Option<Carve> {
        let index = self.region_with(space, bytes)?;
        Some(take(space, index, space.free.table().end(index)))
    }

    /// The region being filled, if it has `bytes` left. Otherwise the next region, which becomes
    /// the current one.
    fn region_with(&mut self, space: &Space, bytes: usize) -> Option<usize> {
        let table = space.free.table();
        let fits = |index: &usize| table.end(*index) - table.get(*index).top() >= bytes;
        if let Some(index) = self.current.filter(fits) {
            return Some(index);
        }
        let index = self.reuse.pop().or_else(|| space.free.take_region(space.home()))?;
        self.log.push(index);
        self.current = Some(index);
        Some(index)
    }

    pub(in crate::mutator) fn log_humongous(&mut self, space: &Space, start: usize) {
        self.log.push(space.free.table().index_of(start));
    }

    /// Takes `[top, end)`, the rest of the buffer, back into the region, if nothing was allocated
    /// after it.
    pub(in crate::mutator) fn undo(&mut self, space: &Space, top: usize, end: usize) -> bool {
        let Some(index) = self.current else { return false };
        let region = space.free.table().get(index);
        let last = region.top() == end && end > space.free.table().bottom(index);
        if last {
            region.set_top(top);
        }
        last
    }

    /// Goes back to a moment: the regions filled since then are emptied. The next region to fill is
    /// the last one, unless they are of more than `hot_bytes` bytes.
    pub(in crate::mutator) fn return_to(&mut self, space: &Space, moment: LogPosition, hot_bytes: usize) {
        let table = space.free.table();
        let first = self.reuse.len();
        // In the order they were filled. The last region, of which most is in the caches, is then
        // on top.
        for index in self.log.drain(moment.logged..) {
            if table.get(index).state() == State::HumongousStart {
                space.free.give_humongous(index);
            } else {
                table.empty(index);
                self.reuse.push(index);
            }
        }
        // The caches hold too little of this many regions, so the first region comes on top.
        let emptied = &mut self.reuse[first..];
        if emptied.len() * space.region_bytes() > hot_bytes {
            emptied.reverse();
        }
        let is_region = |index: &usize| table.get(*index).state() == State::Exclusive;
        self.current = self.log.iter().rev().copied().find(is_region);
        if let Some(index) = self.current {
            let region = table.get(index);
            region.raise_dirty(region.top());
            region.set_top(moment.region_top);
        }
    }

    /// Hands everything to the heap: filled regions to all threads, emptied regions to the free
    /// set.
    pub(in crate::mutator) fn release(&mut self, space: &Space) {
        let table = space.free.table();
        let home = space.home();
        for index in self.log.drain(..) {
            if table.get(index).state() == State::Exclusive {
                space.free.share_region(index);
            }
        }
        self.reuse.drain(..).for_each(|index| space.free.give_region(index, home));
        self.current = None;
    }
}

/// Takes the region's memory up to `end`.
fn take(space: &Space, index: usize, end: usize) -> Carve {
    let region = space.free.table().get(index);
    let start = region.top();
    region.set_top(end);
    Carve { start, end, dirty: region.dirty().clamp(start, end) }
}
