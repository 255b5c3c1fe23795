//! Spare tails: the rest of a given-up buffer, for the next thread on the same core.
//!
//! A thread that detaches has seldom used up its buffer, and the buffer's lines are in this core's
//! caches. The tail cannot go back to its region after the memory that follows it was taken, so the
//! slot remembers a few tails. Their number is fixed: a list would need a lock or counted pointers.
//! A thread that finds no place loses one tail, which is covered by a filler already.

use super::carve::Carve;
use crate::sync::{AtomicU64, Ordering};

/// Number of spare tails that a slot remembers.
const SPARES: usize = 4;

/// Least size in bytes of a tail that is worth remembering.
pub(super) const MIN_SPARE_BYTES: usize = if cfg!(any(test, loom)) { 64 } else { 1024 };

/// A spare is its start in words from the heap's base, and above that 22 bits of its size in words.
const SPARE_START_BITS: u32 = 42;

/// The spare tails of one slot.
#[derive(Default)]
pub(super) struct Spares(
    /// Each is packed; 0 for an empty place. Swapped in and out, Release and Acquire.
    [AtomicU64; SPARES],
);

impl Spares {
    /// Takes a tail of at least `min` bytes, of a heap that begins at `base`.
    pub(super) fn take(&self, base: usize, min: usize) -> Option<Carve> {
        self.0.iter().find_map(|cell| {
            let seen = cell.load(Ordering::Relaxed);
            let spare = unpack(base, seen);
            if seen == 0 || spare.end - spare.start < min {
                return None;
            }
            // Compared as a whole: if the same tail was given up again meanwhile, it is still the
            // same tail.
            cell.compare_exchange(seen, 0, Ordering::Acquire, Ordering::Relaxed).ok().map(|_| spare)
        })
    }

    /// Remembers `[start, end)` of a heap that begins at `base`. Returns `false` if there is no
    /// place for it, or if it is too small or a whole region of the largest size.
    pub(super) fn give(&self, base: usize, start: usize, end: usize) -> bool {
        let words = ((end - start) / 8) as u64;
        if end - start < MIN_SPARE_BYTES || words >> (u64::BITS - SPARE_START_BITS) != 0 {
            return false;
        }
        let packed = words << SPARE_START_BITS | ((start - base) / 8) as u64;
        self.0
            .iter()
            .any(|cell| cell.compare_exchange(0, packed, Ordering::Release, Ordering::Relaxed).is_ok())
    }

    /// The tails at this moment.
    pub(super) fn iter(&self, base: usize) -> impl Iterator<Item = Carve> + '_ {
        self.0.iter().filter_map(move |cell| {
            let packed = cell.load(Ordering::Acquire);
            (packed != 0).then(|| unpack(base, packed))
        })
    }

    /// Forgets all tails. No mutator is attached.
    pub(super) fn clear(&self) {
        self.0.iter().for_each(|cell| cell.store(0, Ordering::Relaxed));
    }
}

fn unpack(base: usize, packed: u64) -> Carve {
    let start = base + (packed & ((1 << SPARE_START_BITS) - 1)) as usize * 8;
    let end = start + (packed >> SPARE_START_BITS) as usize * 8;
    Carve { start, end, dirty: end }
}
