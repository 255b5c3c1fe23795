//! The card table: it records in which 512 bytes of the heap a slot was written since the last
//! reading.
//!
//! A generational collector reads old objects only if their card is dirty. Mutators dirty the card
//! of each slot that they write, with every collector and for every object. A test whether that is
//! necessary costs more instructions than the store of one byte. A dirty card says nothing about
//! the stored value.
//!
//! ```text
//! card of a slot = biased base + (address of the slot >> 9)      1: dirty, 0: clean
//! ```
//!
//! Clean is 0, unlike in HotSpot, because fresh memory is 0: no table has to be initialised.
//!
//! Refused:
//! - A sequential store buffer: a branch at every store, and a slot that is written often is in it
//!   often.
//! - A bit for each card: its read-modify-write would have to be locked.

use super::card_bytes::{CARD_BYTES, CARD_SHIFT, CardBytes};
use crate::platform::MemoryError;
use std::ops::Range;

/// No slot of the card was written since it was cleaned.
const CLEAN: u8 = 0;

/// A slot of the card was written.
pub(crate) const DIRTY: u8 = 1;

/// The dirty cards of a heap.
pub(crate) struct CardTable {
    bytes: CardBytes,
}

impl CardTable {
    /// A table in which the whole heap is clean. The heap has `heap_bytes` and begins at
    /// `heap_base`, a multiple of [`CARD_BYTES`].
    pub(crate) fn new(heap_base: usize, heap_bytes: usize) -> Result<CardTable, MemoryError> {
        Ok(CardTable { bytes: CardBytes::new(heap_base, heap_bytes, "cards")? })
    }

    /// The number to add to `address >> CARD_SHIFT`, wrapping, for the address of the card's byte.
    pub(crate) fn biased(&self) -> usize {
        self.bytes.biased()
    }

    /// Dirties the card of an address inside the heap, in a stop.
    #[inline]
    pub(crate) fn dirty(&self, address: usize) {
        self.bytes.set(self.bytes.card_of(address), DIRTY);
    }

    /// Dirties the card of an address inside the heap while mutators dirty cards.
    #[inline]
    pub(crate) fn dirty_concurrently(&self, address: usize) {
        self.bytes.set_concurrently::<DIRTY>(self.bytes.card_of(address));
    }

    /// Whether the card of an address is dirty.
    #[inline]
    pub(crate) fn is_dirty(&self, address: usize) -> bool {
        self.bytes.get(self.bytes.card_of(address)) == DIRTY
    }

    /// Dirties every card of `[start, end)`.
    pub(crate) fn dirty_range(&self, start: usize, end: usize) {
        self.bytes.fill(self.bytes.cards_of(start, end), DIRTY);
    }

    /// Cleans `[start, end)`, which consists of whole cards.
    pub(crate) fn clean_range(&self, start: usize, end: usize) {
        debug_assert!(start.is_multiple_of(CARD_BYTES) && end.is_multiple_of(CARD_BYTES));
        self.bytes.fill(self.bytes.cards_of(start, end), CLEAN);
    }

    /// The first address in `[from, end)` that lies in a dirty card, or `end`. It is `from` or the
    /// first address of a card.
    #[inline]
    pub(crate) fn next_dirty(&self, from: usize, end: usize) -> usize {
        self.first_other(from, end, CLEAN)
    }

    /// The first address in `[from, end)` that lies in a clean card, or `end`. It is `from` or the
    /// first address of a card.
    #[inline]
    pub(crate) fn next_clean(&self, from: usize, end: usize) -> usize {
        self.first_other(from, end, DIRTY)
    }

    #[inline]
    fn first_other(&self, from: usize, end: usize, byte: u8) -> usize {
        let found = self.bytes.first_other(self.bytes.cards_of(from, end), byte);
        self.bytes.address_of(found).clamp(from, end)
    }

    /// Calls `visit` with each run of dirty cards in `[start, end)`, cut to the range, in order of
    /// address. A run is cleaned before it is visited, its first and last card as a whole. `visit`
    /// may dirty cards again; those ahead are then visited, too.
    ///
    /// No thread may meanwhile dirty the parts of the first and last card outside the range: the
    /// mark would be lost.
    pub(crate) fn dirty_runs(&self, start: usize, end: usize, mut visit: impl FnMut(Range<usize>)) {
        let mut at = start;
        while let Some(run) = self.next_run(at, end) {
            at = run.end;
            self.bytes.fill(self.bytes.cards_of(run.start, run.end), CLEAN);
            visit(run);
        }
    }

    /// The first run of dirty cards in `[start, end)`, cut to the range.
    pub(crate) fn next_run(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let run = self.next_dirty(start, end);
        (run < end).then(|| run..self.next_clean(run, end))
    }

    /// Cleans the cards of a run while other threads write slots and dirty cards. A card is dirty
    /// again if a slot of it was written that this thread does not see yet.
    ///
    /// A mutator stores to the slot first, and then exchanges the card's byte with Release. Either
    /// that exchange comes after this one, and the card is dirty again. Or this one reads the
    /// release sequence that the mutator's exchange is in, and the stored word is visible.
    pub(crate) fn clean_run(&self, run: &Range<usize>) {
        self.bytes.cards_of(run.start, run.end).for_each(|card| self.bytes.swap(card, CLEAN));
    }
}

/// The barrier of generated code relies on these numbers.
const _: () = assert!(CARD_SHIFT == 9 && CARD_BYTES == 512 && CLEAN == 0 && DIRTY == 1);
