//! One byte of metadata for every card, which is 512 bytes of heap.
//!
//! The bytes lie outside the heap. The address of a card's byte is a shift and an addition away, so
//! the write barrier of generated code needs no more instructions. The whole table is committed at
//! once. Its pages appear as they are touched, and read zero before. So every table begins with 0,
//! and a heap that fills a tenth of its addresses pays for a tenth of its tables.
//!
//! Every access has the effect of atomics of a byte. Fills take eight bytes at a time. Scans, which
//! a young collection makes over everything old, take 64. They are Relaxed. Only cards that are
//! dirtied and cleaned at the same time need an order, and get it by exchanges.
//!
//! Refused: plain memory and a promise that no other thread writes there. That holds for a worker's
//! cards, but not for its neighbour's cards in the same word.

use crate::platform::{
    MemoryError, Reservation, all_64_are, exchange_unread, load_eight, page_size, store_eight,
};
use std::ops::Range;
use std::ptr;
// These lie in memory from the system, where the model checker's atomics cannot be.
use std::sync::atomic::{AtomicU8, Ordering};

/// log2 of [`CARD_BYTES`].
pub(crate) const CARD_SHIFT: u32 = 9;

/// Bytes of heap in a card: HotSpot's size.
pub(crate) const CARD_BYTES: usize = 1 << CARD_SHIFT;

/// Cards in a word of the table.
const WIDE: usize = 8;

/// Cards in a cache line of the table.
const LINE: usize = 64;

/// One byte for every card of a heap.
pub(super) struct CardBytes {
    /// Address of the heap's first byte.
    heap: usize,
    cards: usize,
    memory: Reservation,
}

impl CardBytes {
    /// A table of zeroes for the heap of `heap_bytes` that begins at `heap`, a multiple of
    /// [`CARD_BYTES`].
    pub(super) fn new(heap: usize, heap_bytes: usize, name: &str) -> Result<CardBytes, MemoryError> {
        debug_assert!(heap.is_multiple_of(CARD_BYTES));
        let cards = heap_bytes.div_ceil(CARD_BYTES);
        let memory = Reservation::reserve(cards, page_size(), name)?;
        memory.commit(0, memory.bytes())?;
        Ok(CardBytes { heap, cards, memory })
    }

    /// The number to add to `address >> CARD_SHIFT`, wrapping, for the address of the card's byte.
    pub(super) fn biased(&self) -> usize {
        (self.memory.base() as usize).wrapping_sub(self.heap >> CARD_SHIFT)
    }

    /// The card of an address inside the heap.
    #[inline(always)]
    pub(super) fn card_of(&self, address: usize) -> usize {
        debug_assert!(address >= self.heap);
        address.wrapping_sub(self.heap) >> CARD_SHIFT
    }

    /// The cards that `[start, end)` overlaps.
    #[inline]
    pub(super) fn cards_of(&self, start: usize, end: usize) -> Range<usize> {
        debug_assert!(start <= end);
        self.card_of(start)..self.card_of(end + (CARD_BYTES - 1))
    }

    /// Address of the first byte of a card.
    #[inline(always)]
    pub(super) fn address_of(&self, card: usize) -> usize {
        self.heap + (card << CARD_SHIFT)
    }

    /// A card's byte.
    ///
    /// # Panics
    /// If the heap has no such card.
    #[inline(always)]
    fn byte(&self, card: usize) -> &AtomicU8 {
        assert!(card < self.cards, "card {card} of a heap of {} cards", self.cards);
        // SAFETY: one of the table's committed bytes, which all access as atomics.
        unsafe { AtomicU8::from_ptr(self.memory.base().add(card)) }
    }

    #[inline(always)]
    pub(super) fn get(&self, card: usize) -> u8 {
        self.byte(card).load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn set(&self, card: usize, byte: u8) {
        self.byte(card).store(byte, Ordering::Relaxed);
    }

    /// Sets a card's byte while other threads set it, and while a thread may [`swap`](Self::swap) it.
    #[inline]
    pub(super) fn set_concurrently<const BYTE: u8>(&self, card: usize) {
        let byte = ptr::from_ref(self.byte(card)).addr();
        // SAFETY: one of the table's committed bytes, which all access as atomics. Only `swap`
        // makes visible what others wrote before.
        unsafe { exchange_unread::<BYTE>(byte, 0) };
    }

    /// Sets a card's byte while other threads set it, too. What each such thread wrote before it
    /// set the byte by [`exchange_unread`] is visible afterwards: their exchanges are one release
    /// sequence, which this one reads. A Relaxed store ends the sequence, so [`set`](Self::set) and
    /// [`fill`](Self::fill) must be ordered before later swaps in another way. A stop does that.
    #[inline]
    pub(super) fn swap(&self, card: usize, byte: u8) {
        self.byte(card).swap(byte, Ordering::AcqRel);
    }

    /// The first of the cards whose byte is not `byte`, or the end of the range.
    #[inline]
    pub(super) fn first_other(&self, cards: Range<usize>, byte: u8) -> usize {
        let mut at = cards.start;
        while at + LINE <= cards.end && self.line_is(at, byte) {
            at += LINE;
        }
        while at + WIDE <= cards.end {
            let others = self.wide(at) ^ u64::from_ne_bytes([byte; WIDE]);
            if others != 0 {
                return at + others.trailing_zeros() as usize / 8;
            }
            at += WIDE;
        }
        while at < cards.end && self.get(at) == byte {
            at += 1;
        }
        at
    }

    /// Sets the byte of each of the cards to `byte`. Writes nothing if it has that value already,
    /// so that an untouched page of zeroes stays without memory.
    pub(super) fn fill(&self, cards: Range<usize>, byte: u8) {
        let mut at = cards.start;
        let bytes = u64::from_ne_bytes([byte; WIDE]);
        while at + WIDE <= cards.end {
            if self.wide(at) != bytes {
                // SAFETY: the load has checked that there are that many cards.
                unsafe { store_eight(self.memory.base().add(at), bytes) };
            }
            at += WIDE;
        }
        for card in at..cards.end {
            if self.get(card) != byte {
                self.set(card, byte);
            }
        }
    }

    /// Whether the bytes of a line's cards from `card` on are all `byte`.
    #[inline(always)]
    fn line_is(&self, card: usize, byte: u8) -> bool {
        assert!(card + LINE <= self.cards, "card {card} of a heap of {} cards", self.cards);
        // SAFETY: bytes of the table, committed.
        unsafe { all_64_are(self.memory.base().add(card), byte) }
    }

    /// The bytes of eight cards from `card` on, the first one lowest.
    #[inline(always)]
    fn wide(&self, card: usize) -> u64 {
        assert!(card + WIDE <= self.cards, "card {card} of a heap of {} cards", self.cards);
        // SAFETY: bytes of the table, committed.
        unsafe { load_eight(self.memory.base().add(card)) }
    }
}
