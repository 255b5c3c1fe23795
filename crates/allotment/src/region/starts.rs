//! Starts of objects: from any address of an old region to the object that covers it.
//!
//! A dirty card is 512 bytes in the middle of some object. To read its slots, a collector must know
//! that object. So there is a byte for every card:
//!
//! ```text
//! 0         no object is known to begin here: read the card before
//! 1..=64    the last object that begins in the card begins at its word number byte - 1
//! 65 + k    the card lies wholly inside an object: read the card 2^k before, also in that object
//! ```
//!
//! From the last object that begins at or before an address, the walk covers at most the objects of
//! one card. The search for a large array takes as many steps as its length in cards has bits: `k`
//! is the largest value with which the jump stays inside the array. This is HotSpot's block offset
//! table with one difference. It records the *last* start in a card, by one store for each object
//! and with one comparison less. HotSpot's records the object that reaches into the card.
//!
//! Refused:
//! - A bitmap of starts: eight times the size, and a search backwards.
//! - A walk over the region from its bottom: too long.
//!
//! A filler is an object. A thread that empties or refills a region clears its range first.

use super::card_bytes::{CARD_BYTES, CARD_SHIFT, CardBytes};
use crate::object::WORD;
use crate::platform::MemoryError;

/// No object is known to begin in the card.
const NONE: u8 = 0;

/// The largest entry for a start: the number of the card's last word, plus one.
const LAST_WORD: u8 = (CARD_BYTES / WORD) as u8;

/// Go back one card. Each higher number doubles the distance.
const BACK: u8 = LAST_WORD + 1;

/// The starts of the objects of a heap's old regions.
pub(crate) struct StartTable {
    bytes: CardBytes,
}

impl StartTable {
    /// A table without starts. The heap has `heap_bytes` and begins at `heap_base`, a multiple of
    /// [`CARD_BYTES`].
    pub(crate) fn new(heap_base: usize, heap_bytes: usize) -> Result<StartTable, MemoryError> {
        Ok(StartTable { bytes: CardBytes::new(heap_base, heap_bytes, "starts")? })
    }

    /// Records the object of `bytes` at `start`.
    ///
    /// A worker fills whole cards. So it alone records in the card in which the object begins, in
    /// order of address, and the entry is the last object of the card. Mutators that copy in a
    /// concurrent cycle share the region of their core. Several may record in one card, in any
    /// order, and the entry is then any object that begins there. [`object_at`](Self::object_at)
    /// finds the right object from each of them. From an earlier one it walks further.
    #[inline]
    pub(crate) fn record(&self, start: usize, bytes: usize) {
        let (card, entry) = self.entry(start);
        self.bytes.set(card, entry);
        self.record_inside(card, start + bytes);
    }

    /// The start of the object that covers `address`. At `bottom`, a multiple of [`CARD_BYTES`] at
    /// or below `address`, an object starts, recorded or not. From there on objects follow each
    /// other up to `address`. `size_of` is the size in bytes of the object at an address.
    #[inline]
    pub(crate) fn object_at(
        &self,
        address: usize,
        bottom: usize,
        mut size_of: impl FnMut(usize) -> usize,
    ) -> usize {
        let mut start = self.start_at_or_below(address, bottom);
        loop {
            let bytes = size_of(start);
            debug_assert!(bytes >= WORD, "{start:#x}: an object of {bytes} bytes");
            if address - start < bytes {
                return start;
            }
            start += bytes;
        }
    }

    /// Forgets the starts in `[start, end)`, which consists of whole cards.
    pub(crate) fn clear_range(&self, start: usize, end: usize) {
        debug_assert!(start.is_multiple_of(CARD_BYTES) && end.is_multiple_of(CARD_BYTES));
        self.bytes.fill(self.bytes.cards_of(start, end), NONE);
    }

    /// The last start in the table that is not above `address`, or `bottom`.
    #[inline]
    fn start_at_or_below(&self, address: usize, bottom: usize) -> usize {
        debug_assert!(bottom <= address && bottom.is_multiple_of(CARD_BYTES));
        let lowest = self.bytes.card_of(bottom);
        let mut card = self.bytes.card_of(address);
        loop {
            let entry = self.bytes.get(card);
            let mut back = 1;
            if entry >= BACK {
                back = 1_usize.checked_shl(u32::from(entry - BACK)).unwrap_or(usize::MAX);
            } else if entry != NONE {
                let start = self.bytes.address_of(card) + usize::from(entry - 1) * WORD;
                if start <= address {
                    return start;
                }
            }
            match card.checked_sub(back) {
                Some(before) if before >= lowest => card = before,
                _ => return bottom,
            }
        }
    }

    /// The card of `start`, and the card's byte if no object begins after it.
    #[inline(always)]
    fn entry(&self, start: usize) -> (usize, u8) {
        debug_assert!(start.is_multiple_of(WORD));
        (self.bytes.card_of(start), (start % CARD_BYTES / WORD) as u8 + 1)
    }

    /// Records the cards that an object from `card` to `end` covers wholly, without `card`.
    #[inline(always)]
    fn record_inside(&self, card: usize, end: usize) {
        let after = (end >> CARD_SHIFT) - (self.bytes.address_of(0) >> CARD_SHIFT);
        if after > card + 1 {
            self.record_long(card, after);
        }
    }

    #[cold]
    fn record_long(&self, card: usize, after: usize) {
        let mut from = card + 1;
        for entry in BACK.. {
            let to = (card + (2 << (entry - BACK))).min(after);
            self.bytes.fill(from..to, entry);
            if to == after {
                return;
            }
            from = to;
        }
    }
}
