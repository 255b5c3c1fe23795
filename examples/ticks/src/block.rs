//! Blocks: the leaves of the tree. A block is an array of words: the number of its ticks, then the
//! ticks in order, then room for more.
//!
//! ```text
//! ticks | instrument time price size+flags | instrument time price size+flags | ... | room
//! ```
//!
//! The fields of a tick lie together: a reader loads one or two cache lines for a tick. Refused: a
//! column for each field, which only gains where a scan reads a single field.

use crate::tick::{Key, TICK_WORDS, Tick, Words, key_of};
use allotment::{Gc, Slots};
use std::ops::Range;

/// Bytes of a tick in a block.
pub const TICK_BYTES: usize = 8 * TICK_WORDS;

/// The smallest block in bytes: its number of ticks, and two of them.
pub const MIN_BLOCK_BYTES: usize = 8 + 2 * TICK_BYTES;

/// A block, for a span.
#[derive(Clone, Copy)]
pub(crate) struct Block<'g>(pub(crate) Gc<'g, Slots<u64>>);

/// The words of a block of `bytes` bytes: a number of ticks and whole ticks.
pub(crate) fn words_of(bytes: usize) -> usize {
    word((bytes / 8 - 1) / TICK_WORDS)
}

impl<'g> Block<'g> {
    /// Ticks.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.0.at(0).get() as usize
    }

    /// The most ticks that it can have.
    #[inline]
    pub(crate) fn capacity(self) -> usize {
        (self.0.len() - 1) / TICK_WORDS
    }

    /// Whether there is no room for one more tick.
    #[inline]
    pub(crate) fn is_full(self) -> bool {
        self.len() == self.capacity()
    }

    fn set_len(self, len: usize) {
        self.0.at(0).set(len as u64);
    }

    /// Its ticks.
    #[inline]
    pub(crate) fn ticks(self) -> &'g [Words] {
        &self.places()[..self.len()]
    }

    /// The places for ticks, empty ones included.
    #[inline]
    fn places(self) -> &'g [Words] {
        self.0.as_ref()[1..].as_chunks().0
    }

    /// The number of ticks below a key: the place of the key.
    #[inline]
    pub(crate) fn below(self, key: Key) -> usize {
        self.ticks().partition_point(|words| key_of(words) < key)
    }

    /// The number of ticks up to a key, and at it.
    #[inline]
    pub(crate) fn up_to(self, key: Key) -> usize {
        self.ticks().partition_point(|words| key_of(words) <= key)
    }

    /// Puts a tick at a place, before the tick that is there. The block must have room.
    #[inline]
    pub(crate) fn insert(self, at: usize, tick: &Tick) {
        let len = self.len();
        self.0.copy_within(word(at)..word(len), word(at + 1));
        tick.write(&self.places()[at]);
        self.set_len(len + 1);
    }

    /// Takes some ticks out.
    pub(crate) fn remove(self, range: Range<usize>) {
        let len = self.len();
        if !range.is_empty() {
            self.0.copy_within(word(range.end)..word(len), word(range.start));
            self.set_len(len - range.len());
        }
    }

    /// Moves the ticks from a place on to the end of another block, which must have room.
    pub(crate) fn move_to(self, from: usize, other: Block<'_>) {
        let (moved, at) = (&self.ticks()[from..], other.len());
        for (to, from) in other.places()[at..].iter().zip(moved) {
            to.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
        }
        other.set_len(at + moved.len());
        self.set_len(from);
    }

    /// The place at which a full block is split for a new key: the ticks from there on go to a new
    /// block.
    ///
    /// If the key is its instrument's newest here, nothing follows it in its block, so instruments
    /// whose ticks come in order fill their blocks. Any other key splits the block into halves.
    pub(crate) fn cut(self, key: Key) -> usize {
        let at = self.below(key);
        let behind = self.ticks().get(at);
        let newest = behind.is_none_or(|words| key_of(words).instrument != key.instrument);
        if newest { at } else { self.len() / 2 }
    }
}

/// The first word of a tick's place.
const fn word(tick: usize) -> usize {
    1 + tick * TICK_WORDS
}
