//! Old memory, cut into pieces for workers to take: a list of what is old when a collection begins, by region.
//!
//! Beside the set, which makes it in the same pass over the regions. Refused: a list for each collection, see [`OldRanges`].

use crate::collector::work::Turns;
use crate::region::{Backing, CARD_BYTES, FreeSet};
use std::collections::TryReserveError;

/// Bytes of old memory that a worker takes at a time.
pub(super) const PIECE_BYTES: usize = if cfg!(test) { 2 * CARD_BYTES } else { 128 * CARD_BYTES };

/// Pieces that a worker takes at most at once.
const MOST_PIECES: usize = if cfg!(test) { 3 } else { 32 };

/// Old memory as it was when the collection began, cut into pieces. Kept from one collection to the next: a list that grows asks the
/// system's allocator five times, which takes longer than all that is written there.
#[derive(Default)]
pub(crate) struct OldRanges {
    ranges: Vec<Range>,
    pieces: Turns,
}

struct Range {
    bottom: usize,
    top: usize,
    /// Number of its first piece.
    first: usize,
}

impl OldRanges {
    /// Forgets all of them: another collection begins.
    pub(super) fn begin(&mut self) {
        self.ranges.clear();
        self.pieces = Turns::default();
    }

    /// The old objects that begin in a region behind all those so far.
    pub(super) fn add<B: Backing>(&mut self, free: &FreeSet<B>, index: usize) -> Result<(), TryReserveError> {
        self.ranges.try_reserve(1)?;
        let (bottom, top) = (free.table().bottom(index), free.object_end(index));
        self.ranges.push(Range { bottom, top, first: self.pieces.count() });
        self.pieces = Turns::new(self.pieces.count() + (top - bottom).div_ceil(PIECE_BYTES));
        Ok(())
    }

    /// Where the old objects ended that begin in the region at `bottom`; `None`: it had none.
    pub(super) fn top_of(&self, bottom: usize) -> Option<usize> {
        let place = self.ranges.binary_search_by_key(&bottom, |range| range.bottom).ok()?;
        Some(self.ranges[place].top)
    }

    /// Calls `visit` with the bottom of a region and a part of it, whole pieces, for all of the next pieces that one of so many
    /// workers should take; `false`: there are none.
    pub(super) fn take(&self, workers: usize, mut visit: impl FnMut(usize, usize, usize)) -> bool {
        let Some(pieces) = self.pieces.take_some(4 * workers, MOST_PIECES) else { return false };
        let mut next = pieces.start;
        let first = self.ranges.partition_point(|range| range.first <= next) - 1;
        for range in &self.ranges[first..] {
            let start = range.bottom + (next - range.first) * PIECE_BYTES;
            let end = range.top.min(start + (pieces.end - next) * PIECE_BYTES);
            visit(range.bottom, start, end);
            next += (end - start).div_ceil(PIECE_BYTES);
            if next == pieces.end {
                break;
            }
        }
        true
    }
}
