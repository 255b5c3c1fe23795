//! An evacuation's access to cache lines: it prefetches them, and copies their contents.
//!
//! A scattered object costs two or three cache misses of 100 ns each; all other work on it takes 8
//! ns. If lines are requested some objects ahead, several misses overlap: 125,000 arrays of 16 to
//! 144 bytes, one in ten of an eden of 250 MB, take 33 ns each instead of 100.

use crate::object::{ADDRESS_MASK, WORD};
use crate::platform::{copy_short, copy_two_pairs, prefetch_read, prefetch_write};
use std::ops::Range;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes from the start of a copy to the line that is fetched for later copies. Without this fetch,
/// copying took 14 % longer with one worker and 10 % longer with two, whose swaps wait for the
/// stores before them. 256 bytes gain half of that, 1024 and 2048 no more (an Intel Xeon with 2 MiB
/// of L2).
pub(super) const DESTINATION_AHEAD: usize = 512;

/// Fetches the header that a slot refers to, and the two lines after it. An object that shares its
/// lines with others reaches into these lines. Where objects lie in the order in which they are
/// met, the lines belong to the next object. Without the third line the collections below take a
/// tenth longer. To look at the header first and fetch only the needed lines is no faster.
///
/// With several workers, each fetches all three lines for writing. A line that another core wrote
/// then arrives once, not once for the read and again for the swap. Two workers take 3 % less time
/// where their cores share no cache, and the same time where they do; one worker took 1 % longer.
///
/// # Safety
/// - A slot of the heap or a root, which no other thread writes; it holds a reference.
#[inline(always)]
pub(super) unsafe fn fetch<const SHARED: bool>(slot: *const u64) {
    // SAFETY: the caller's predicate.
    let address = (unsafe { slot.read() } & ADDRESS_MASK) as usize;
    prefetch_write::<0>(address);
    for line in [address + LINE, address + 2 * LINE] {
        if SHARED {
            prefetch_write::<0>(line);
        } else {
            prefetch_read(line);
        }
    }
}

/// Fetches the lines of the first copies in a new buffer: no earlier copy has fetched them.
pub(super) fn fetch_destination(buffer: &Range<usize>) {
    let end = buffer.end.min(buffer.start + DESTINATION_AHEAD);
    for line in (buffer.start..end).step_by(LINE) {
        prefetch_write::<0>(line);
    }
}

/// Copies the contents of an object. The caller writes the header.
///
/// # Safety
/// - `bytes` may be read at `from` and written at `to`, whole words and at least two. The ranges do
///   not overlap, and other threads change only the header.
#[inline(always)]
pub(super) unsafe fn copy_contents(from: usize, to: usize, bytes: usize) {
    /// Objects longer than this are worth the call.
    const SHORT: usize = 128;
    let (from, to, bytes) = ((from + WORD) as *const u8, (to + WORD) as *mut u8, bytes - WORD);
    // SAFETY: the caller's predicates.
    unsafe {
        if (2 * WORD..=4 * WORD).contains(&bytes) {
            copy_two_pairs(from, to, bytes);
        } else if bytes > SHORT {
            std::ptr::copy_nonoverlapping(from.cast::<u64>(), to.cast::<u64>(), bytes / WORD);
        } else {
            copy_short(from, to, bytes);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A header, and the words after it.
    const OBJECT: [u64; 24] = {
        let mut words = [0; 24];
        let mut word = 0;
        while word < words.len() {
            words[word] = word as u64 + 1;
            word += 1;
        }
        words
    };

    #[test]
    fn contents_are_copied_and_no_more() {
        for words in 2..OBJECT.len() {
            let mut to = [99_u64; OBJECT.len()];
            // SAFETY: both have more words.
            unsafe {
                copy_contents(OBJECT.as_ptr().addr(), to.as_mut_ptr().expose_provenance(), words * WORD)
            };
            assert_eq!((to[0], &to[1..words], to[words]), (99, &OBJECT[1..words], 99));
        }
    }
}
