//! The regions that one thread fills alone, once it has taken a [mark](super::Mark): a log of those it filled, and a stack of those
//! it emptied, the hottest on top where caches hold some. Why they are no longer its own behind a stop: [`recycle`](super::recycle).

use super::shared::Shared;
use crate::object::MIN_OBJECT_BYTES;
use crate::region::{Carve, State};

/// The regions a thread fills alone.
#[derive(Default)]
pub(super) struct Private {
    /// Regions and humongous runs (by their first region) taken, oldest first.
    log: Vec<usize>,
    /// The region being filled.
    current: Option<usize>,
    /// Emptied regions, the one to be filled next on top.
    reuse: Vec<usize>,
}

impl Private {
    /// This moment: entries of the log, and the top of the region that is being filled; 0: none is.
    pub(super) fn moment(&self, shared: &Shared) -> (usize, usize) {
        let top = |index| shared.free.table().get(index).top();
        (self.log.len(), self.current.map_or(0, top))
    }

    /// `min` to `size` bytes of the current region, or of the next.
    pub(super) fn carve(&mut self, shared: &Shared, min: usize, size: usize) -> Option<Carve> {
        let table = shared.free.table();
        let fits = |index: &usize| table.end(*index) - table.get(*index).top() >= min;
        let index = match self.current.filter(fits) {
            Some(index) => index,
            None => {
                let index = self.reuse.pop().or_else(|| shared.free.take_region(shared.home()))?;
                self.log.push(index);
                self.current = Some(index);
                index
            }
        };
        let region = table.get(index);
        let (start, room) = (region.top(), table.end(index) - region.top());
        let mut bytes = size.min(room);
        if min < size && room - bytes < MIN_OBJECT_BYTES {
            bytes = room;
        }
        let end = start + bytes;
        region.set_top(end);
        Some(Carve { start, end, dirty: region.dirty().clamp(start, end) })
    }

    pub(super) fn log_humongous(&mut self, shared: &Shared, start: usize) {
        self.log.push(shared.free.table().index_of(start));
    }

    /// Takes `[top, end)`, the rest of the buffer, back into the region, if nothing came behind it.
    pub(super) fn undo(&mut self, shared: &Shared, top: usize, end: usize) -> bool {
        let Some(index) = self.current else { return false };
        let region = shared.free.table().get(index);
        let last = region.top() == end && end > shared.free.table().bottom(index);
        if last {
            region.set_top(top);
        }
        last
    }

    /// Goes back to a moment: what was filled since is emptied.
    pub(super) fn return_to(&mut self, shared: &Shared, (depth, region_top): (usize, usize)) {
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
    pub(super) fn release(&mut self, shared: &Shared) {
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
