//! Covers unused memory with fillers, so that its region is parsable.

use crate::object::{WORD, fill, poison};
use crate::region::FreeSet;

/// Makes a filler of the memory, with the pattern of freed memory if the heap asks for that.
///
/// # Safety
/// - `[start, end)` is whole words of a region, and nothing in it is used.
pub(crate) unsafe fn cover(free: &FreeSet, start: usize, end: usize) {
    // SAFETY: the caller's predicate; a filler is at least its header.
    unsafe {
        fill(start, end);
        if free.disposal.poison && start < end {
            poison(start + WORD, end);
        }
    }
}
