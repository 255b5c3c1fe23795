//! A worker's own piece of a space (promotion-local allocation buffer): a bump and a compare per
//! copy.
//!
//! A collection of few objects must not spend a large buffer on each worker. A collection of many
//! objects must not ask for a new buffer for each handful. So the first buffer is small, and each
//! next one is twice as large.

use std::ops::Range;

/// Bytes of a worker's first buffer, at most.
const FIRST: usize = if cfg!(test) { 1 << 9 } else { 1 << 12 };

/// A buffer of one worker in one space.
pub(super) struct Plab {
    start: usize,
    top: usize,
    end: usize,
    /// Bytes of the next buffer.
    next: usize,
    most: usize,
}

impl Plab {
    /// No buffer yet; later buffers have at most `most` bytes.
    pub(super) fn new(most: usize) -> Plab {
        Plab { start: 0, top: 0, end: 0, next: FIRST.min(most), most }
    }

    #[inline(always)]
    pub(super) fn allocate(&mut self, bytes: usize) -> Option<usize> {
        let start = self.top;
        (self.end - start >= bytes).then(|| {
            self.top = start + bytes;
            start
        })
    }

    /// Takes the object at `start` back, if it was allocated last here. Returns whether it was.
    pub(super) fn retract(&mut self, start: usize, bytes: usize) -> bool {
        // Memory that ends where the buffer begins may be another region's.
        let last = self.top == start + bytes && start >= self.start;
        if last {
            self.top = start;
        }
        last
    }

    /// Whether an object of `bytes` is worth a new buffer.
    pub(super) fn suits(&self, bytes: usize) -> bool {
        bytes <= self.most / 4
    }

    /// Bytes to ask for, so that an object of `bytes` fits.
    pub(super) fn wanted(&mut self, bytes: usize) -> usize {
        let wanted = self.next.max(bytes);
        self.next = (self.next * 2).min(self.most);
        wanted
    }

    /// Makes `piece` the buffer; returns the rest of the last one.
    pub(super) fn replace(&mut self, piece: Range<usize>) -> Range<usize> {
        let rest = self.top..self.end;
        (self.start, self.top, self.end) = (piece.start, piece.start, piece.end);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_grow_up_to_the_most() {
        let mut plab = Plab::new(FIRST * 3);
        let sizes = [0, 0, 0, FIRST * 4].map(|bytes| plab.wanted(bytes));
        assert_eq!(sizes, [FIRST, FIRST * 2, FIRST * 3, FIRST * 4]);
        assert_eq!(Plab::new(64).wanted(8), 64);
        assert_eq!([16, 17].map(|bytes| Plab::new(64).suits(bytes)), [true, false]);
    }

    #[test]
    fn only_the_last_object_of_a_buffer_is_taken_back() {
        let mut plab = Plab::new(1024);
        assert_eq!(plab.allocate(8), None);
        assert_eq!(plab.replace(4096..4160), 0..0);
        assert_eq!([40, 32, 24].map(|bytes| plab.allocate(bytes)), [Some(4096), None, Some(4136)]);
        assert!(!plab.retract(4096, 40) && plab.retract(4136, 24) && plab.retract(4096, 40));
        assert_eq!(plab.replace(0..0), 4096..4160);
    }

    #[test]
    fn an_object_that_ends_where_a_buffer_begins_is_not_its_last() {
        let mut plab = Plab::new(1024);
        plab.replace(4096..4160);
        // At the end of the region before.
        assert!(!plab.retract(4096 - 400, 400));
        assert_eq!(plab.replace(0..0), 4096..4160);
    }
}
