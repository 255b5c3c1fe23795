//! The lane: what a thread knows of the memory behind its buffer, so that most refills look at nothing else.
//!
//! A thread that is alone on its core lengthens its buffer in place, again and again, each time by the same amount: with
//! sizes that are settled nothing has to be asked for that but whether somebody else took what comes next. So a refill
//! leaves what the next one needs beside the buffer, and the next one takes 5 ns where a whole one takes 13 (a Zen 4; buffers of
//! 2 KiB, so that the processor foresees their ends: where it does not, that costs either way 10 ns and more). Where the lane
//! ends (the region does, an object goes outside, a sampling point is set, a size may change with the time) the refill is the
//! whole one, which opens the lane anew.
//!
//! The limits are raised before the swap and not behind it: then the swap is the fence that [`limit`](super::limit) wants between
//! them and the look at a request. Nobody but this thread, which is here, compares with them meanwhile.
//!
//! Refused: a larger piece of the region at once, handed on buffer by buffer. It needs no swap at all, but then
//! buffers are as large as the piece, whatever their size is called.

use super::state::{Owned, State};
use crate::object::WORD;
use crate::region::Region;
use crate::tlab::sizing::Settled;
use std::cell::Cell;
use std::ptr;

/// What lies behind the buffer. The owner's own, and the stopper's while the owner is held.
///
/// ```text
/// open  =>  region is the shared region of the buffer's end, and ends at end
/// open  =>  no sampling, no zeal, no window of a whole buffer; sizes are settled until the buffer is given up
/// ```
#[derive(Debug)]
#[repr(C)]
pub(super) struct Lane {
    /// The buffer's region; null: the lane is closed.
    region: Cell<*const Region>,
    /// Address behind it.
    end: Cell<usize>,
    /// As in [`Settled`], in bytes.
    size: Cell<u32>,
    largest: Cell<u32>,
    waste: Cell<u32>,
}

impl Lane {
    pub(super) fn new() -> Lane {
        let none = || Cell::new(0);
        Lane {
            region: Cell::new(ptr::null()),
            end: Cell::new(0),
            size: none(),
            largest: none(),
            waste: none(),
        }
    }

    /// The next refill is a whole one.
    pub(super) fn close(&self) {
        self.region.set(ptr::null());
    }

    #[cfg(all(test, not(loom)))]
    pub(super) fn is_open(&self) -> bool {
        !self.region.get().is_null()
    }

    fn open(&self, region: &Region, end: usize, settled: Settled) {
        // No buffer is larger than the largest region, so the sizes fit; if they did not, the lane would be closed.
        let sizes = (settled.size.try_into(), settled.largest.try_into(), settled.waste.try_into());
        if let (Ok(size), Ok(largest), Ok(waste)) = sizes {
            self.region.set(region);
            self.end.set(end);
            self.size.set(size);
            self.largest.set(largest);
            self.waste.set(waste);
        }
    }

    /// The region, and how far a buffer that ends at `end` with `free` bytes left becomes longer for an object of `bytes`. `None`:
    /// that is for a whole refill to say.
    fn next(&self, end: usize, free: usize, bytes: usize) -> Option<(*const Region, usize)> {
        let region = self.region.get();
        let is_due = free < bytes && free <= self.waste.get() as usize;
        if region.is_null() || !is_due || bytes > self.largest.get() as usize {
            return None;
        }
        let next = end + self.size.get() as usize + bytes;
        // A word at the end of a region is too little for an object: it goes to the last buffer.
        (next <= self.end.get() && self.end.get() - next != WORD).then_some((region, next))
    }

    /// Checks the equations above for a buffer that ends at `end`.
    pub(super) fn verify(&self, end: usize) {
        assert!(self.region.get().is_null() || end <= self.end.get(), "a lane ends before its buffer");
    }
}

impl State {
    /// Memory of `bytes` at the top of a buffer that has no room for them, once the lane has made it longer.
    #[inline]
    pub(super) fn lengthen_in_lane(&self, bytes: usize) -> Option<usize> {
        let hot = &self.hot;
        let (top, end) = (hot.top(), hot.end());
        let (region, next) = hot.lane.next(end, end - top, bytes)?;
        // A limit below the end is somebody's wish: a sampling point, or a stop.
        if hot.limit.plain() != end {
            return None;
        }
        // SAFETY: the lane is open, so this is an entry of the heap's table, which outlives the thread's state.
        let region = unsafe { &*region };
        if region.top() != end {
            return None;
        }
        // Who finds the top where it was finds the memory behind it as clean as it was.
        let clean = region.dirty().max(end).min(next);
        let zeroed = hot.zeroed_once_extended(clean, next);
        let won = hot.limit.arm_through(next, zeroed, || region.move_top(end, next).is_ok());
        self.counters.compare_exchange(1, won);
        if !won {
            self.arm();
            return None;
        }
        hot.extend(clean, next);
        hot.set_top(top + bytes);
        self.owned.borrow_mut().sizing.granted_as_settled();
        self.counters.refilled(next - end);
        if cfg!(debug_assertions) {
            hot.verify();
        }
        Some(top)
    }

    /// Opens the lane for the refills to come, if they may use one: behind a refill.
    pub(super) fn open_lane(&self, owned: &Owned) {
        let shared = &*self.shared;
        let plain =
            owned.private.is_none() && !shared.zero_tlab && !self.zeal.is_on() && !self.sampling.is_on();
        if plain
            && let Some(settled) = owned.sizing.settled(&shared.sizing)
            && let Some((region, end)) = shared.free.around(self.hot.end())
        {
            self.hot.lane.open(region, end, settled);
        }
    }
}
