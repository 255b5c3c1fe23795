//! A set of region numbers. Threads take from it and put into it without a lock.
//!
//! Each region has one bit. A thread takes a region by clearing the bit, and the thread that
//! cleared it owns the region. So the release by one thread and the claim by another are a single
//! atomic operation on one word. A humongous allocation can claim particular regions, which a stack
//! of free regions (cheaper to pop) does not allow.

use crate::sync::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;
// No model needs to see this type: ownership does not depend on it.
use std::sync::atomic::AtomicUsize;

/// Regions, by number.
pub(crate) struct Bitmap {
    /// Bit `i % 64` of word `i / 64`: region `i` is in the set. A thread that gives up a region
    /// sets the bit with Release. A thread that takes the region clears it with Acquire.
    words: Box<[AtomicU64]>,
    /// Number of set bits, or more while bits are being set or cleared. Raised before a bit is set.
    /// Lowered after a bit was cleared, or was found to be set before. Relaxed. Counting the words
    /// instead, for each region that a mutator takes, cost a twentieth of the time of a mutator
    /// that allocates in a heap of 4,096.
    count: CachePadded<AtomicUsize>,
}

impl Bitmap {
    /// The empty set over `regions` regions.
    pub(crate) fn new(regions: usize) -> Bitmap {
        let words = (0..regions.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Bitmap { words, count: CachePadded::new(AtomicUsize::new(0)) }
    }

    /// Adds a region that the caller owns, and that is therefore not in the set.
    pub(crate) fn put(&self, index: usize) {
        self.count.fetch_add(1, Ordering::Relaxed);
        let before = self.words[index / 64].fetch_or(1 << (index % 64), Ordering::Release);
        debug_assert!(before & 1 << (index % 64) == 0, "region {index} was given up twice");
    }

    /// Adds a region, whether or not it is in the set. For sets of hints.
    pub(crate) fn note(&self, index: usize) {
        // No check first: another thread may be about to remove a bit that was set for an earlier
        // state.
        let bit = 1 << (index % 64);
        self.count.fetch_add(1, Ordering::Relaxed);
        if self.words[index / 64].fetch_or(bit, Ordering::Release) & bit != 0 {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Removes that region. Returns whether it was in the set, so that the caller owns it now.
    pub(crate) fn take(&self, index: usize) -> bool {
        let bit = 1 << (index % 64);
        // Reads first: a failed take must not steal the cache line.
        let taken = self.words[index / 64].load(Ordering::Relaxed) & bit != 0
            && self.words[index / 64].fetch_and(!bit, Ordering::Acquire) & bit != 0;
        if taken {
            self.count.fetch_sub(1, Ordering::Relaxed);
        }
        taken
    }

    /// Removes the lowest region.
    pub(crate) fn take_lowest(&self) -> Option<usize> {
        self.words.iter().enumerate().find_map(|(number, word)| {
            loop {
                let bits = word.load(Ordering::Relaxed);
                if bits == 0 {
                    return None;
                }
                let index = number * 64 + bits.trailing_zeros() as usize;
                if self.take(index) {
                    return Some(index);
                }
            }
        })
    }

    /// Whether the region is in the set at this moment.
    pub(crate) fn contains(&self, index: usize) -> bool {
        self.words[index / 64].load(Ordering::Relaxed) & 1 << (index % 64) != 0
    }

    /// The regions in the set, lowest first, each as of the moment when its word is read. Reads
    /// with Acquire: a region that the caller uses without taking it is as its last owner left it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len()).flat_map(|number| regions_of(number, self.word(number)))
    }

    /// Regions `64 * number` to `64 * number + 63`, as bits, with Acquire.
    pub(super) fn word(&self, number: usize) -> u64 {
        self.words[number].load(Ordering::Acquire)
    }

    /// Whether the set is empty, at about this moment.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    /// Number of regions in the set, at about this moment.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Empties the set.
    pub(crate) fn clear(&self) {
        for word in &self.words {
            word.store(0, Ordering::Relaxed);
        }
        self.count.store(0, Ordering::Relaxed);
    }
}

/// The regions whose bits are set in the word `number`, lowest first.
pub(super) fn regions_of(number: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            number * 64 + bit
        })
    })
}
