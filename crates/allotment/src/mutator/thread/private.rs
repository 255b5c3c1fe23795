//! The regions that one thread fills alone, once it has taken a [mark](crate::mutator::Mark): a log of those it filled, and a stack of those
//! it emptied, the hottest on top where caches hold some. Why they are no longer its own behind a stop: [`recycle`](crate::mutator::alloc::recycle).

use super::shared::Shared;
use crate::region::{Carve, State};

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

impl Private {
    /// This moment: entries of the log, and the top of the region that is being filled; 0: none is.
    pub(in crate::mutator) fn moment(&self, shared: &Shared) -> (usize, usize) {
        let top = |index| shared.free.table().get(index).top();
        (self.log.len(), self.current.map_or(0, top))
    }

    /// `bytes` of the current region, or of the next.
    pub(in crate::mutator) fn carve(&mut self, shared: &Shared, bytes: usize) -> Option<Carve> {
        let index = self.region_with(shared, bytes)?;
        let start = shared.free.table().get(index).top();
        Some(take(shared, index, start + bytes))
    }

    /// All that is left of the current region, or the next one, where the current one has not `bytes`: a buffer. A smaller one
    /// would leave room to nobody but this thread.
    pub(in crate::mutator) fn rest(&mut self, shared: &Shared, bytes: usize) -> Option<Carve> {
        let index = self.region_with(shared, bytes)?;
        Some(take(shared, index, shared.free.table().end(index)))
    }

    /// The region being filled, if it has `bytes` left; else the next, which is that from now on.
    fn region_with(&mut self, shared: &Shared, bytes: usize) -> Option<usize> {
        let table = shared.free.table();
        let fits = |index: &usize| table.end(*index) - table.get(*index).top() >= bytes;
        if let Some(index) = self.current.filter(fits) {
            return Some(index);
        }
        let index = self.reuse.pop().or_else(|| shared.free.take_region(shared.home()))?;
        self.log.push(index);
        self.current = Some(index);
        Some(index)
    }

    pub(in crate::mutator) fn log_humongous(&mut self, shared: &Shared, start: usize) {
        self.log.push(shared.free.table().index_of(start));
    }

    /// Takes `[top, end)`, the rest of the buffer, back into the region, if nothing came behind it.
    pub(in crate::mutator) fn undo(&mut self, shared: &Shared, top: usize, end: usize) -> bool {
        let Some(index) = self.current else { return false };
        let region = shared.free.table().get(index);
        let last = region.top() == end && end > shared.free.table().bottom(index);
        if last {
            region.set_top(top);
        }
        last
    }

    /// Goes back to a moment: what was filled since is emptied.
    pub(in crate::mutator) fn return_to(&mut self, shared: &Shared, (depth, region_top): (usize, usize)) {
        let table = shared.free.table();
        let first = self.reuse.len();
        // In the order they were filled: the last one, of which most is in the caches, is on top then.
        for index in self.log.drain(depth..) {
            if table.get(index).state() == State::HumongousStart {
                shared.free.give_humongous(index);
            } else {
                table.empty(index);
                self.reuse.push(index);
            }
        }
        // Of so much the caches hold too little: from the first on.
        let emptied = &mut self.reuse[first..];
        if emptied.len() * shared.region_bytes() > shared.hot_bytes {
            emptied.reverse();
        }
        let is_region = |index: &usize| table.get(*index).state() == State::Exclusive;
        self.current = self.log.iter().rev().copied().find(is_region);
        if let Some(index) = self.current {
            let region = table.get(index);
            region.raise_dirty(region.top());
            region.set_top(region_top);
        }
    }

    /// Hands everything to the heap: filled regions to all threads, emptied ones to the free set.
    pub(in crate::mutator) fn release(&mut self, shared: &Shared) {
        let table = shared.free.table();
        let home = shared.home();
        for index in self.log.drain(..) {
            if table.get(index).state() == State::Exclusive {
                shared.free.share_region(index);
            }
        }
        self.reuse.drain(..).for_each(|index| shared.free.give_region(index, home));
        self.current = None;
    }
}

/// Takes the region's memory up to `end`.
fn take(shared: &Shared, index: usize, end: usize) -> Carve {
    let region = shared.free.table().get(index);
    let start = region.top();
    region.set_top(end);
    Carve { start, end, dirty: region.dirty().clamp(start, end) }
}
