//! The lane: what a thread knows of the memory behind its buffer, so that most refills look at nothing else.
//!
//! A thread that is alone on its core lengthens its buffer in place, again and again, each time by the same amount: with
//! sizes that are settled nothing has to be asked for that but whether somebody else took what comes next. So a refill
//! leaves what the next one needs beside the buffer, and the next one takes 6 ns where a whole one takes 13 (a Zen 4, where a
//! swap alone makes 5; in buffers of 16 KiB, whose ends it does not foresee, before objects of 16 bytes). Where the lane
//! ends (the region does, an object goes outside, a sampling point is set, a size may change with the time) the refill is the
//! whole one, which opens the lane anew ([`refill`](super::refill)).
//!
//! Refused: a larger piece of the region at once, handed on buffer by buffer. It needs no swap at all, but then
//! buffers are as large as the piece, whatever their size is called.

use crate::object::MIN_OBJECT_BYTES;
use crate::region::Region;
use crate::tlab::sizing::Settled;
use std::cell::Cell;
use std::ptr;

/// What lies behind the buffer. The owner's own, and the stopper's while the owner is held.
///
/// ```text
/// open  =>  region is the shared region of the buffer's end, and ends 16 bytes behind last
/// open  =>  no sampling, no zeal, no window of a whole buffer; sizes are settled until the buffer is given up
/// ```
#[derive(Debug)]
#[repr(C)]
pub(super) struct Lane {
    /// The buffer's region, while the lane is open.
    region: Cell<*const Region>,
    /// Where a buffer may end and leave the region room for an object; 0: the lane is closed.
    last: Cell<usize>,
    /// As in [`Settled`], in bytes.
    size: Cell<u32>,
    largest: Cell<u32>,
}

impl Lane {
    pub(super) fn new() -> Lane {
        Lane { region: Cell::new(ptr::null()), last: Cell::new(0), size: Cell::new(0), largest: Cell::new(0) }
    }

    /// The next refill is a whole one.
    pub(super) fn close(&self) {
        self.last.set(0);
    }

    pub(super) fn is_open(&self) -> bool {
        self.last.get() != 0
    }

    /// Opens it into `region`, which ends at `end`.
    pub(super) fn open(&self, region: &Region, end: usize, settled: Settled) {
        // No buffer is larger than the largest region, so the sizes fit; if they did not, the lane would be closed.
        if let (Ok(size), Ok(largest)) = (settled.size.try_into(), settled.largest.try_into()) {
            self.region.set(region);
            self.last.set(end - MIN_OBJECT_BYTES);
            self.size.set(size);
            self.largest.set(largest);
        }
    }

    /// The region, and where a buffer `[top, end)` ends once it is longer for an object of `bytes`.
    /// `None`: that is for a whole refill to say, as it is at the end of a region, where the last buffer takes what is left.
    #[inline(always)]
    pub(super) fn next(&self, top: usize, end: usize, bytes: usize) -> Option<(*const Region, usize)> {
        if end - top >= bytes || bytes > self.largest.get() as usize {
            return None;
        }
        let next = end + self.size.get() as usize + bytes;
        (next <= self.last.get()).then_some((self.region.get(), next))
    }

    /// Checks the equations above for a buffer that ends at `end`.
    pub(super) fn verify(&self, end: usize) {
        assert!(
            !self.is_open() || end <= self.last.get() + MIN_OBJECT_BYTES,
            "a lane ends before its buffer"
        );
    }
}
