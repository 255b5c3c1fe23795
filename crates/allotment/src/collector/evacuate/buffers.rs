//! The targets of a worker's copies: its buffers, the next ones, and the rest of the last ones.
//!
//! When the worker is done, a region that it copied to is parsable. In an old region the start of
//! every object and filler is recorded. The unused rest of a buffer goes back to the region, unless
//! another worker took the memory after it.

use super::lines::fetch_destination;
use super::worker::Worker;
use crate::object::{fill, poison};
use std::ops::Range;

impl<const SHARED: bool> Worker<'_, '_, SHARED> {
    /// Finds a place for an object that does not fit into the rest of the buffer. Returns the place
    /// and whether it is old.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_slowly(&mut self, bytes: usize, young: bool) -> Option<(usize, bool)> {
        if !young {
            return Some((self.refill(bytes, false)?, true));
        }
        match self.refill(bytes, true) {
            Some(to) => Some((to, false)),
            None => self.allocate_old(bytes),
        }
    }

    /// Finds a place for an object that becomes old. Returns the place and whether it is old, as
    /// [`allocate_slowly`](Self::allocate_slowly) does.
    pub(super) fn allocate_old(&mut self, bytes: usize) -> Option<(usize, bool)> {
        match self.old.allocate(bytes) {
            Some(to) => Some((to, true)),
            None => self.allocate_slowly(bytes, false),
        }
    }

    /// Finds a place in a new buffer, or beside the buffers if the object is too large for one or
    /// if the space has no further buffer.
    fn refill(&mut self, bytes: usize, young: bool) -> Option<usize> {
        let (heap, home) = (self.heap, self.home);
        let (space, plab, full) = if young {
            (heap.survivors, &mut self.survivors, &mut self.survivors_full)
        } else {
            (heap.old, &mut self.old, &mut self.old_full)
        };
        if plab.suits(bytes) && !*full {
            if let Some(piece) = space.carve(heap, home, bytes, plab.wanted(bytes)) {
                fetch_destination(&piece);
                let rest = plab.replace(piece);
                let to = plab.allocate(bytes);
                self.give_back(rest, young);
                return to;
            }
            *full = true;
            if young {
                // From now on all objects become old, without a request here for each.
                self.tenuring_threshold = 0;
                self.headers.forget(&mut self.statistics);
            }
        }
        let Range { start, end } = space.carve(heap, home, bytes, bytes)?;
        // SAFETY: the rest of a piece that is this worker's.
        unsafe { fill(start + bytes, end) };
        if !young && start + bytes < end {
            heap.tables.starts.record(start + bytes, end - start - bytes);
        }
        self.statistics.wasted_bytes += (end - start - bytes) as u64;
        Some(start)
    }

    /// Gives the rest of a buffer back to the region, or covers it.
    fn give_back(&mut self, Range { start: top, end }: Range<usize>, young: bool) {
        if top == end {
            return;
        }
        let heap = self.heap;
        let space = if young { heap.survivors } else { heap.old };
        let keep_to = space.round(top);
        let index = heap.space.free.table().index_of(top);
        let region = heap.space.free.table().get(index);
        // A retracted copy was written to.
        region.raise_dirty_together(end);
        if heap.space.free.disposal.poison {
            // SAFETY: the rest of this worker's piece, until the top is moved.
            unsafe { poison(top, end) };
        }
        let end = if region.move_top(end, keep_to).is_ok() {
            if !young {
                space.offer_again(&heap.space.free, index);
            }
            keep_to
        } else {
            end
        };
        // SAFETY: the rest of this worker's piece.
        unsafe { fill(top, end) };
        if !young && top < end {
            heap.tables.starts.record(top, end - top);
        }
        self.statistics.wasted_bytes += (end - top) as u64;
    }

    /// Takes back a copy that lost the race.
    #[cold]
    #[inline(never)]
    pub(super) fn retract(&mut self, to: usize, bytes: usize, old: bool) {
        let plab = if old { &mut self.old } else { &mut self.survivors };
        if !plab.retract(to, bytes) {
            // SAFETY: the copy is this worker's alone, and nothing refers to it.
            unsafe { fill(to, to + bytes) };
            if old {
                self.heap.tables.starts.record(to, bytes);
            }
            self.statistics.wasted_bytes += bytes as u64;
        }
    }

    /// Gives the buffers back, so that every region this worker copied to is parsable, and counts
    /// the copies.
    pub(super) fn finish(&mut self) {
        self.headers.forget(&mut self.statistics);
        let survivors = self.survivors.replace(0..0);
        self.give_back(survivors, true);
        let old = self.old.replace(0..0);
        self.give_back(old, false);
    }
}
