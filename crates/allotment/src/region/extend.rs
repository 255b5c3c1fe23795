//! Lengthens a buffer in place: the refill of a thread that is alone on its core.
//!
//! If no other thread took memory from the region since, the end of the buffer is the region's top.
//! One compare-and-swap then makes the following memory part of the buffer. The refill need not
//! find the current core, the region in the core's slot, or a spare. These are half of the cost of
//! a refill. A thread that moved to another core meanwhile goes on in its old region until that is
//! full.

use super::carve::{Attempts, Carve};
use super::committer::Backing;
use super::free_set::FreeSet;
use super::table::Region;
use crate::object::MIN_OBJECT_BYTES;

impl<B: Backing> FreeSet<B> {
    /// Whether the `bytes` directly after a piece that ends at `end` can be taken now.
    pub(crate) fn can_extend(&self, end: usize, bytes: usize) -> bool {
        self.room_after(end, bytes).is_some()
    }

    /// The region of a piece that ends at `end`, and the region's rest, if that has `least` bytes
    /// and follows the piece.
    fn room_after(&self, end: usize, least: usize) -> Option<(&Region, usize)> {
        if self.refill_lock.is_used() {
            return None;
        }
        let index = self.table.index_of(end - 1);
        let region = self.table.get(index);
        let room = self.table.end(index) - end;
        (room >= least && region.top() == end).then_some((region, room))
    }

    /// Takes `min` to `desired` bytes directly after a piece of a shared region that ends at `end`.
    /// The caller owns the piece. Fails if the memory after it was taken. All sizes are multiples
    /// of 8. Fails in mode `Lock`, in which threads take memory only under the lock.
    pub(crate) fn extend(
        &self,
        end: usize,
        min: usize,
        desired: usize,
        attempts: &mut Attempts,
    ) -> Option<Carve> {
        let (region, room) = self.room_after(end, min)?;
        let bytes = if min < desired && room < desired + MIN_OBJECT_BYTES { room } else { desired };
        attempts.tried += 1;
        region.move_top(end, end + bytes).ok()?;
        attempts.won += 1;
        // Not `clamp`, which checks the order of its bounds.
        Some(Carve { start: end, end: end + bytes, dirty: region.dirty().max(end).min(end + bytes) })
    }
}
