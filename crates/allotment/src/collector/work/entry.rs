//! The meaning of a word on a work stack: an object, or a chunk of an array.
//!
//! ```text
//! 63      48 47                    1  0
//! |    0    |     address         0 | 0 |   an object
//! | number  | address of the array 0 | 1 |   that chunk of it
//! ```
//!
//! An entry is one word, so that a stack is words only and a piece of it may be cut anywhere.
//! Refused: a pair of words for chunks. A worker that takes a part of a stack would have to find
//! the start of a pair.

/// Bits of the number of a chunk.
const NUMBER_BITS: u32 = 16;
/// The lowest bit of the number: above every address of a process (`docs/x86/x86_64/mm` of Linux:
/// 47 bits with four levels of page tables; the system gives higher addresses only to a process
/// that asks for them).
const NUMBER_SHIFT: u32 = 48;
/// Set in the word of a chunk. Objects lie at multiples of 8.
const CHUNK: usize = 1;

/// Slots of a chunk of an array that is not huge: some µs of work.
const SLOTS: usize = if cfg!(test) { 16 } else { 512 };

/// One piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WorkEntry {
    /// The object at an address.
    Plain(usize),
    /// Slots `[number * n, (number + 1) * n)` of the array at an address, where n is its
    /// [`chunk_slots`].
    Chunk { array: usize, number: usize },
}

impl WorkEntry {
    /// The word for the entry. Addresses are multiples of 8 below 2^48, numbers below 2^16.
    #[inline(always)]
    pub(crate) fn encode(self) -> usize {
        match self {
            WorkEntry::Plain(address) => address,
            WorkEntry::Chunk { array, number } => {
                debug_assert!(number >> NUMBER_BITS == 0 && array >> NUMBER_SHIFT == 0);
                array | CHUNK | number << NUMBER_SHIFT
            }
        }
    }

    /// Whether all of these words are objects.
    #[inline(always)]
    pub(crate) fn are_plain<const N: usize>(words: &[usize; N]) -> bool {
        words.iter().fold(0, |all, word| all | word) & CHUNK == 0
    }

    /// The entry that a word stands for.
    #[inline(always)]
    pub(crate) fn decode(word: usize) -> WorkEntry {
        if word & CHUNK == 0 {
            return WorkEntry::Plain(word);
        }
        let array = word & ((1 << NUMBER_SHIFT) - 1) & !CHUNK;
        WorkEntry::Chunk { array, number: word >> NUMBER_SHIFT }
    }
}

/// Slots of a chunk of an array of `length` slots: enough that no array has more than 2^16 chunks.
#[inline]
pub(crate) fn chunk_slots(length: usize) -> usize {
    length.div_ceil(1 << NUMBER_BITS).max(SLOTS)
}
