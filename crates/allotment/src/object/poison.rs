//! The pattern that freed memory is filled with when a heap is tested.
//!
//! A word of the pattern is neither a header (its tag heads nothing) nor a reference (bit 0 is
//! set). So a use of a reference to a dead object differs from a use of a valid reference. A
//! collector that meets the pattern in a slot ignores it. All bytes are the same, so text and
//! numbers in dumps show the pattern too.
//!
//! Refused: HotSpot's 0xBAADBABE. Its words are references under this heap's rule.

use super::WORD;

/// A word of freed memory.
pub(crate) const POISON: u64 = 0xDBDB_DBDB_DBDB_DBDB;

/// Fills `[start, end)` with the pattern; does nothing for an empty range.
///
/// # Safety
/// - `start` and `end` are multiples of 8 and `start <= end`.
/// - `[start, end)` is committed memory that belongs to the caller.
pub(crate) unsafe fn poison(start: usize, end: usize) {
    // SAFETY: the caller's predicates.
    unsafe { std::ptr::write_bytes(start as *mut u8, POISON as u8, end - start) };
}

/// The address and value of the first word of `[start, end)` that `allowed` rejects.
///
/// # Safety
/// - `start` and `end` are multiples of 8.
/// - `[start, end)` is committed memory that no thread writes to meanwhile.
pub(crate) unsafe fn first_word_not(
    start: usize,
    end: usize,
    allowed: impl Fn(u64) -> bool,
) -> Option<(usize, u64)> {
    (start..end)
        .step_by(WORD)
        // SAFETY: a word of the caller's range.
        .map(|address| (address, unsafe { (address as *const u64).read() }))
        .find(|(_, word)| !allowed(*word))
}

#[cfg(test)]
mod tests {
    use super::super::{Header, Kind, reference};
    use super::*;

    #[test]
    fn the_pattern_heads_nothing_and_refers_to_nothing() {
        assert_eq!(Header::from_bits(POISON).kind(), Kind::Invalid);
        assert_eq!(reference(POISON), None);
        assert!(POISON.to_ne_bytes().iter().all(|byte| *byte == POISON as u8));
    }

    #[test]
    fn a_write_into_it_is_found_where_it_is() {
        let mut words = [0_u64; 8];
        let start = words.as_mut_ptr().expose_provenance();
        // SAFETY: the words are the test's own.
        unsafe {
            poison(start + 8, start + 64);
            assert_eq!(first_word_not(start + 8, start + 64, |word| word == POISON), None);
            ((start + 32) as *mut u8).write(0);
            let found = first_word_not(start + 8, start + 64, |word| word == POISON);
            assert_eq!(found, Some((start + 32, POISON & !0xFF)));
        }
        assert_eq!(words[0], 0);
    }
}
