//! Lengthening a buffer in place: the refill of a thread that is alone on its core.
//!
//! If nobody took anything from the region since, what follows the buffer is the region's top, and one
//! compare-and-swap makes it part of the buffer. Which core the thread runs on, whose slot holds which
//! region and what others left need not be asked: half of what a refill costs. A thread that moved to
//! another core meanwhile goes on in its old region until that is full.

use super::backing::Backing;
use super::carve::{Attempts, Carve};
use super::free_set::FreeSet;
use super::table::Region;
use crate::object::MIN_OBJECT_BYTES;

impl<B: Backing> FreeSet<B> {
    /// Whether `bytes` that follow a piece ending at `end` can be had now.
    pub(crate) fn can_extend(&self, end: usize, bytes: usize) -> bool {
        self.room_behind(end, bytes).is_some()
    }

    /// The region of a piece that ends at `end`, and what is left of it, if that is `least` bytes and follows the piece.
    fn room_behind(&self, end: usize, least: usize) -> Option<(&Region, usize)> {
        if self.refill_lock.is_used() {
            return None;
        }
        let index = self.table.index_of(end - 1);
        let region = self.table.get(index);
        let room = self.table.end(index) - end;
        (room >= least && region.top() == end).then_some((region, room))
    }

    /// Takes `min` to `desired` bytes that follow a piece of a shared region ending at `end`, which the
    /// caller owns, if nothing was taken behind it. All multiples of 8. Not in mode `Lock`, where nothing
    /// is taken without the lock.
    pub(crate) fn extend(
        &self,
        end: usize,
        min: usize,
        desired: usize,
        attempts: &mut Attempts,
    ) -> Option<Carve> {
        let (region, room) = self.room_behind(end, min)?;
        let bytes = if min < desired && room < desired + MIN_OBJECT_BYTES { room } else { desired };
        attempts.tried += 1;
        region.move_top(end, end + bytes).ok()?;
        attempts.won += 1;
        // Not `clamp`, which looks whether its bounds are in order.
        Some(Carve { start: end, end: end + bytes, dirty: region.dirty().max(end).min(end + bytes) })
    }
}
