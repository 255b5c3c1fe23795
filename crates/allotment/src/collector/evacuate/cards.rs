//! Dirty cards: the slots of old objects that may refer to young ones.
//!
//! Old memory is cut into pieces of 128 cards (64 KiB). A worker takes the next pieces when it is
//! done with some, so an array that fills the old generation is shared by many workers. Most pieces
//! are clean, which two lines of the table show. So a worker takes up to 32 pieces at once, and
//! only one towards the end. A worker looks only at slots in its own cards, wherever their object
//! begins and ends, so it looks at no slot twice. It cleans a card before it looks at the card's
//! slots. The card gets dirty again if a referent of one of them stays young.

use super::ranges::PIECE_BYTES;
use super::worker::Worker;
use crate::collector::kernel::broken;
use crate::object::{Header, Kind, Shape, for_each_slot_between, size_of_object};
use crate::region::CARD_BYTES;
use std::ops::Range;

impl<'h, const SHARED: bool> Worker<'_, 'h, SHARED> {
    /// Takes pieces until there are none.
    ///
    /// # Safety
    /// - Starts of old objects are recorded, and only workers write to these objects.
    pub(super) unsafe fn scan_cards(&mut self) {
        let heap = self.heap;
        while heap.ranges.take(self.stack.workers(), |bottom, Range { start, end }| {
            self.statistics.cards_scanned += ((end - start).div_ceil(CARD_BYTES)) as u64;
            heap.tables.cards.dirty_runs(start, end, |run| {
                self.statistics.cards_dirty += run.len().div_ceil(CARD_BYTES) as u64;
                // No more than one piece at a time goes on the stack.
                for start in run.clone().step_by(PIECE_BYTES) {
                    // SAFETY: the caller's predicate.
                    unsafe { self.scan_slots(bottom, start..run.end.min(start + PIECE_BYTES)) };
                    self.drain_own();
                }
            });
        }) {}
    }

    /// Looks at all slots in `part` of the region that begins at `bottom`.
    ///
    /// # Safety
    /// - As for [`scan_cards`](Self::scan_cards).
    unsafe fn scan_slots(&mut self, bottom: usize, part: Range<usize>) {
        let heap = self.heap;
        // SAFETY: starts lead to headers of objects and fillers.
        let size_of = |address| unsafe { self.size_at(address).0 };
        let mut object = heap.tables.starts.object_at(part.start, bottom, size_of);
        while object < part.end {
            // SAFETY: as above.
            let (bytes, shape) = unsafe { self.size_at(object) };
            if let Some(shape) = shape {
                // SAFETY: an object of that shape.
                unsafe {
                    for_each_slot_between(object, shape, part.clone(), |slot, kind| {
                        self.meet_old(slot, kind)
                    });
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
            _ => broken(address, "an old region is not parsable"),
        }
    }
}
