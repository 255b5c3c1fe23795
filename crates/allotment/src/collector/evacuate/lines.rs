//! What an evacuation does to lines of memory: it asks for them before it needs them, and copies them.
//!
//! Scattered objects are two or three cache misses each, of 100 ns, and all else that is done for one takes 15. Asked for
//! some objects ahead, the misses of several overlap: 125,000 arrays of 16 to 144 bytes, one in ten of an eden of
//! 250 MB, take 33 ns each instead of 100.

use crate::memory::{copy_short, prefetch_read, prefetch_write};
use crate::object::{ADDRESS_MASK, WORD};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Fetches the header that a slot refers to, and the two lines behind it: an object that is not alone in its lines reaches into
/// them, and where objects were copied in the order in which they are met they are the next one's. Without the third line the
/// collections below take a tenth longer; to look at the header first, and fetch what is needed, is no faster.
///
/// # Safety
/// - A slot of the heap or a root, which nobody else writes; it holds a reference.
#[inline(always)]
pub(super) unsafe fn fetch(slot: *const u64) {
    // SAFETY: the caller's predicate.
    let address = (unsafe { slot.read() } & ADDRESS_MASK) as usize;
    prefetch_write::<0>(address);
    prefetch_read(address + LINE);
    prefetch_read(address + 2 * LINE);
}

/// Copies what an object contains, if `decide` says so, which is called when a short one is read and not written yet; whether it did. The
/// header is the caller's. What a longer object contains may be at `to` although it said no.
///
/// # Safety
/// - `bytes` may be read at `from` and written at `to`, whole words and at least two; they do not overlap, and nobody changes more
///   than the header.
#[inline(always)]
pub(super) unsafe fn copy_contents(
    from: usize,
    to: usize,
    bytes: usize,
    decide: impl FnOnce() -> bool,
) -> bool {
    let (from, to) = (from + WORD, to + WORD);
    // SAFETY: the caller's predicates.
    unsafe {
        match bytes {
            16 => copy_around::<1>(from, to, decide),
            24 => copy_around::<2>(from, to, decide),
            32 => copy_around::<3>(from, to, decide),
            40 => copy_around::<4>(from, to, decide),
            _ => {
                copy_words(from, to, bytes - WORD);
                decide()
            }
        }
    }
}

/// Copies so many words, if `decide` says so, which is called when all are read and none is written; whether it did. A locked
/// instruction waits for the stores before it, and no load behind it begins before it has ended: between the two it is least in the
/// way. With a length that the compiler knows one worker takes 7 % less than with a loop, and two 2 %.
///
/// # Safety
/// - They may be read at `from` and written at `to`; they do not overlap.
#[inline(always)]
unsafe fn copy_around<const WORDS: usize>(from: usize, to: usize, decide: impl FnOnce() -> bool) -> bool {
    let (from, to) = (from as *const u64, to as *mut u64);
    // Volatile: the compiler would make pairs of them, and a slot is read soon after it was stored.
    // SAFETY: the caller's predicates.
    unsafe {
        let words: [u64; WORDS] = std::array::from_fn(|word| from.add(word).read_volatile());
        if !decide() {
            return false;
        }
        (0..WORDS).for_each(|word| to.add(word).write_volatile(words[word]));
    }
    true
}

/// Copies an object of any length, or part of one.
///
/// # Safety
/// - `bytes` at `from` may be read and at `to` written, whole words; they do not overlap.
#[inline(always)]
unsafe fn copy_words(from: usize, to: usize, bytes: usize) {
    /// Longer objects are worth the call.
    const SHORT: usize = 128;
    let (from, to) = (from as *const u64, to as *mut u64);
    if bytes > SHORT {
        // SAFETY: the caller's predicate.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, bytes / WORD) };
    }
    // SAFETY: as above.
    unsafe { copy_short(from.cast(), to.cast(), bytes) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A header, and what is behind it.
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
    fn contents_are_copied_and_no_more_and_short_ones_after_the_decision() {
        for words in 2..OBJECT.len() {
            for copies in [true, false] {
                let mut to = [99_u64; OBJECT.len()];
                let place = to.as_mut_ptr();
                // SAFETY: both have more words.
                let copied = unsafe {
                    copy_contents(OBJECT.as_ptr().addr(), place.expose_provenance(), words * WORD, || {
                        assert!(words > 5 || place.add(1).read() == 99, "it is not written yet");
                        copies
                    })
                };
                assert_eq!((copied, to[0], to[words]), (copies, 99, 99));
                let written = if copied || words > 5 { &OBJECT[1..words] } else { &[99; 24][1..words] };
                assert_eq!(&to[1..words], written);
            }
        }
    }
}
