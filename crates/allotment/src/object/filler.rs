//! Covers unused memory with fillers, so that a region stays parsable.
//!
//! A filler is a header, and nothing else is written: an unused tail of any size costs one store.
//! HotSpot's filler is an `int[]`, which needs 16 bytes. A filler here may have only 8 bytes, so a
//! buffer needs no alignment reserve at its end.

use super::{Header, WORD};

/// The largest filler: its size in words has 32 bits.
const MAX_FILLER_BYTES: usize = (u32::MAX as usize) * WORD;

/// Covers `[start, end)` with fillers; does nothing for an empty range.
///
/// # Safety
/// - `start` and `end` are multiples of 8 and `start <= end`.
/// - `[start, end)` is committed memory that belongs to the caller.
#[inline]
pub(crate) unsafe fn fill(start: usize, end: usize) {
    let mut at = start;
    while at < end {
        let bytes = (end - at).min(MAX_FILLER_BYTES);
        // SAFETY: `at` is a word inside the caller's range.
        unsafe { (at as *mut u64).write(Header::filler(bytes).bits()) };
        at += bytes;
    }
}
