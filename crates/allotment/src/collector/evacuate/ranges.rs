//! Old memory, cut into pieces for workers: a list of the old objects at the start of a collection,
//! by region.
//!
//! The collection set makes the list in its own pass over the regions. Refused: a new list for each
//! collection, see [`OldRanges`].

use crate::collector::work::Claimer;
use crate::region::{CARD_BYTES, FreeSet};
use std::collections::TryReserveError;
use std::ops::Range;

/// Bytes of old memory that a worker takes at a time.
pub(super) const PIECE_BYTES: usize = if cfg!(test) { 2 * CARD_BYTES } else { 128 * CARD_BYTES };

/// The most pieces that a worker takes at once.
const MOST_PIECES: usize = if cfg!(test) { 3 } else { 32 };

/// Old memory as it was when the collection began, cut into pieces. Kept from one collection to the
/// next: a growing list asks the system's allocator five times, which takes longer than the writes.
#[derive(Default)]
pub(crate) struct OldRanges {
    ranges: Vec<OldRange>,
    pieces: Claimer,
}

/// The old objects that begin in one region.
struct OldRange {
    bottom: usize,
    top: usize,
    /// Number of its first piece.
    first: usize,
}

impl OldRanges {
    /// Forgets all ranges: another collection begins.
    pub(super) fn begin(&mut self) {
        self.ranges.clear();
        self.pieces = Claimer::default();
    }

    /// Adds the old objects that begin in a region above all regions added so far.
    pub(super) fn add(&mut self, free: &FreeSet, index: usize) -> Result<(), TryReserveError> {
        self.ranges.try_reserve(1)?;
        let (bottom, top) = (free.table().bottom(index), free.object_end(index));
        self.ranges.push(OldRange { bottom, top, first: self.pieces.count() });
        self.pieces = Claimer::new(self.pieces.count() + (top - bottom).div_ceil(PIECE_BYTES));
        Ok(())
    }

    /// The end of the old objects that begin in the region at `bottom`; `None` if the region had
    /// none.
    pub(super) fn top_of(&self, bottom: usize) -> Option<usize> {
        let place = self.ranges.binary_search_by_key(&bottom, |range| range.bottom).ok()?;
        Some(self.ranges[place].top)
    }

    /// Takes the next pieces, as many as one of `workers` workers should take. Calls `visit` with
    /// the bottom of a region and with a part of the region, in whole pieces. Returns `false` if no
    /// pieces are left.
    pub(super) fn take(&self, workers: usize, mut visit: impl FnMut(usize, Range<usize>)) -> bool {
        let Some(pieces) = self.pieces.claim_some(4 * workers, MOST_PIECES) else { return false };
        let mut next = pieces.start;
        let first = self.ranges.partition_point(|range| range.first <= next) - 1;
        for range in &self.ranges[first..] {
            let start = range.bottom + (next - range.first) * PIECE_BYTES;
            let end = range.top.min(start + (pieces.end - next) * PIECE_BYTES);
            visit(range.bottom, start..end);
            next += (end - start).div_ceil(PIECE_BYTES);
            if next == pieces.end {
                break;
            }
        }
        true
    }
}
