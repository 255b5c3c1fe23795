//! Marks: memory that one thread filled alone, used again before any collection.
//!
//! For frames, requests, and measurements that must reuse memory while other threads run. From its
//! first mark on a thread takes whole regions, so that what it filled since a mark is a list of regions
//! and two addresses. Recycling puts the regions on a stack of the thread's own and takes them from its
//! top: the memory written last, which is still in the caches, is written first.
//!
//! A stop of the world dissolves them: a collector moves objects out of regions and into others, and what one
//! thread filled since some moment is then no list of regions any more. So in a stopped world no region is
//! exclusive, and a mark knows how often that has happened; an older one recycles nothing, since what it would free
//! is the collector's to find dead. The alternative, to leave a marked thread's regions out of collections,
//! was refused: objects in them would be garbage that no collection frees, and roots that none may move.
//!
//! ```text
//! log:  regions filled, oldest first; the last one is being filled
//! mark: length of the log, the region's top, and what was left of the buffer, at one moment
//! ```

use super::Mutator;
use super::shared::Shared;
use super::state::State;
use crate::object::MIN_OBJECT_BYTES;
use crate::region::{Carve, State as RegionState};
use std::marker::PhantomData;

/// A moment of one thread's allocation; see [`Mutator::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark<'t> {
    /// How often the thread's regions had been dissolved: older marks are void.
    dissolved: u64,
    /// Entries of the log.
    depth: usize,
    /// Top of the region that was being filled; 0: none was.
    region_top: usize,
    /// What was left of the buffer; `top = end = 0`: there was none.
    top: usize,
    end: usize,
    /// The attachment: it cannot be kept longer, nor reach another thread.
    attached: PhantomData<&'t State>,
}

/// The regions a thread fills alone.
#[derive(Default)]
pub(super) struct Private {
    /// Regions and humongous runs (by their first region) taken, oldest first.
    log: Vec<usize>,
    /// The region being filled.
    current: Option<usize>,
    /// Emptied regions, the one written last on top.
    reuse: Vec<usize>,
}

impl Private {
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

    fn unwind(&mut self, shared: &Shared, depth: usize) {
        let table = shared.free.table();
        while self.log.len() > depth {
            let index = self.log.pop().expect("longer than depth");
            if table.get(index).state() == RegionState::HumongousStart {
                shared.free.give_humongous(index);
            } else {
                table.empty(index);
                self.reuse.push(index);
            }
        }
        let is_region = |index: &usize| table.get(*index).state() == RegionState::Exclusive;
        self.current = self.log.iter().rev().copied().find(is_region);
    }

    /// Hands everything to the heap: filled regions to all threads, emptied ones to the free set.
    pub(super) fn release(&mut self, shared: &Shared) {
        let table = shared.free.table();
        let home = shared.home();
        for index in self.log.drain(..) {
            if table.get(index).state() == RegionState::Exclusive {
                shared.free.share_region(index);
            }
        }
        self.reuse.drain(..).for_each(|index| shared.free.give_region(index, home));
        self.current = None;
    }
}

impl<'t> Mutator<'t> {
    /// Notes this moment, so that what is allocated from here on can be recycled. From the first mark
    /// until it detaches or the world is stopped the thread fills regions of its own, and looks for room nowhere
    /// else: not in holes of regions that others share. Marks nest: a frame's mark is recycled before its caller's.
    pub fn mark(&mut self) -> Mark<'t> {
        if self.state().owned.borrow().private.is_none() {
            self.give_up_buffer();
            self.state().owned.borrow_mut().private = Some(Private::default());
        }
        let state = self.state();
        let owned = state.owned.borrow();
        let private = owned.private.as_ref().expect("set above");
        let table = state.shared.free.table();
        Mark {
            dissolved: owned.dissolved,
            depth: private.log.len(),
            region_top: private.current.map_or(0, |index| table.get(index).top()),
            top: state.hot.top(),
            end: state.hot.end(),
            attached: PhantomData,
        }
    }

    /// Frees at once everything this thread allocated since `mark`, and uses its memory next. Frees nothing if the
    /// world was stopped since: a collection may have moved the objects, and the next one finds them dead.
    ///
    /// # Safety
    /// - No object this thread allocated since `mark` is used any more, by anybody.
    /// - No older mark was recycled since this one was taken (this one may have been, any number of times).
    /// - No reservation made since `mark` is used afterwards.
    pub unsafe fn recycle(&mut self, mark: Mark<'t>) {
        let state = self.state();
        let shared = &*state.shared;
        let table = shared.free.table();
        if mark.dissolved != state.owned.borrow().dissolved {
            return;
        }
        state.lift_sampling_point();
        {
            let mut owned = state.owned.borrow_mut();
            let private =
                owned.private.as_mut().expect("a mark was taken, and they were not dissolved since");
            private.unwind(shared, mark.depth);
            if let Some(index) = private.current {
                let region = table.get(index);
                region.raise_dirty(region.top());
                region.set_top(mark.region_top);
            }
        }
        if mark.end == 0 {
            state.hot.clear();
        } else if state.hot.holds(mark.top, mark.end) {
            state.hot.rewind(mark.top, mark.end);
        } else {
            // Given up meanwhile, and nobody knows what was written there since.
            state.hot.install(mark.top, mark.end, mark.end);
        }
        state.place_sampling_point();
        state.arm();
    }
}
