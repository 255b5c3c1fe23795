//! Dirty cards: the slots of old objects that may refer to young ones.
//!
//! Old memory is cut into pieces of 128 cards (64 KiB). A worker takes the next pieces when it is
//! done with some, so an array that fills the old generation is shared by many workers. Most pieces
//! are clean, which two lines of the table show. So a worker takes up to 32 pieces at once, and
//! only one towards the end. A worker looks only at slots in its own cards, wherever their object
//! begins and ends, so it looks at no slot twice. It cleans a card before it looks at the card's
//! slots. The card gets dirty again if a referent of one of them stays young.

use super::SharedMode;
use super::ranges::{OldRanges, PIECE_BYTES};
use super::worker::Worker;
use crate::object::{Header, Kind, Shape, for_each_slot_between, size_of_object};
use crate::region::CARD_BYTES;

impl<'h, M: SharedMode> Worker<'_, 'h, M> {
    /// Takes pieces until there are none.
    ///
    /// # Safety
    /// - Starts of old objects are recorded, and only workers write to these objects.
    pub(super) unsafe fn scan_cards(&mut self, ranges: &OldRanges) {
        let cards = self.heap.tables.cards;
        while ranges.take(self.stack.workers(), |bottom, start, end| {
            self.statistics.cards_scanned += ((end - start).div_ceil(CARD_BYTES)) as u64;
            cards.dirty_runs(start, end, |run_start, run_end| {
                self.statistics.cards_dirty += ((run_end - run_start).div_ceil(CARD_BYTES)) as u64;
                // No more than one piece at a time goes on the stack.
                for start in (run_start..run_end).step_by(PIECE_BYTES) {
                    // SAFETY: the caller's predicate.
                    unsafe { self.scan_slots(bottom, start, run_end.min(start + PIECE_BYTES)) };
                    self.drain_own();
                }
            });
        }) {}
    }

    /// Looks at all slots in `[start, end)`, part of a region that begins at `bottom`.
    ///
    /// # Safety
    /// - As for [`scan_cards`](Self::scan_cards).
    unsafe fn scan_slots(&mut self, bottom: usize, start: usize, end: usize) {
        let heap = self.heap;
        // SAFETY: starts lead to headers of objects and fillers.
        let mut object =
            heap.tables.starts.object_at(start, bottom, |address| unsafe { self.size_at(address).0 });
        while object < end {
            // SAFETY: as above.
            let (bytes, shape) = unsafe { self.size_at(object) };
            if let Some(shape) = shape {
                // SAFETY: an object of that shape.
                unsafe {
                    for_each_slot_between(object, shape, start..end, |slot, kind| self.meet_old(slot, kind));
                }
            }
            object += bytes;
        }
    }

    /// Size of the object or filler at `address`, and its shape if it is an object.
    ///
    /// # Safety
    /// - An object or filler is there, and it does not move.
    unsafe fn size_at(&mut self, address: usize) -> (usize, Option<&'h Shape>) {
        // SAFETY: the caller's predicate.
        let header = Header::from_bits(unsafe { (address as *const u64).read() });
        match header.kind() {
            Kind::Filler(bytes) => (bytes, None),
            Kind::Object(_) => {
                let shape = self.shape(header, address);
                // SAFETY: as above.
                (unsafe { size_of_object(address, shape) }, Some(shape))
            }
            _ => crate::collector::kernel::broken(address, "an old region is not parsable"),
        }
    }
}
