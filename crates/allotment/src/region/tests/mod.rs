//! The free set over memory that does not exist, so that regions can be tiny and the system can
//! refuse.

mod bitmap;
// Their memory is the system's, which Miri does not have.
#[cfg(not(miri))]
mod cards;
mod collection;
mod operations;
mod oracle;
mod scenarios;
mod sequences;
#[cfg(not(miri))]
mod starts;
mod stress;

use super::Geometry;
use super::carve::{Attempts, Carve};
use super::committer::Backing;
use super::free_set::FreeSet;
use super::spares::MIN_SPARE_BYTES;
use super::table::{RegionTable, State};
use crate::object::{MIN_OBJECT_BYTES, WORD};
use crate::options::RefillStrategy;
use crate::sync::{AtomicU8, AtomicUsize, Ordering};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The address where the heap would be.
const BASE: usize = 1 << 40;

/// Record of the memory: one bit says whether a word is owned, another that it was written.
struct Memory {
    region_bytes: usize,
    /// Number of regions that the system will still commit.
    allowance: AtomicUsize,
    /// Whether it refuses to take memory back.
    stubborn: AtomicBool,
    /// Refused commits.
    refusals: AtomicUsize,
    committed: Box<[AtomicBool]>,
    /// One per word of the heap: [`OWNED`] and [`WRITTEN`].
    words: Box<[AtomicU8]>,
}

/// The word has an owner.
const OWNED: u8 = 1;
/// The word does not read zero.
const WRITTEN: u8 = 2;

impl Memory {
    fn words(&self, start: usize, end: usize) -> &[AtomicU8] {
        &self.words[(start - BASE) / WORD..(end - BASE) / WORD]
    }

    /// Takes `[start, end)`, which must have no owner.
    fn claim(&self, start: usize, end: usize) {
        for (offset, word) in self.words(start, end).iter().enumerate() {
            let before = word.fetch_or(OWNED, Ordering::Relaxed);
            assert!(before & OWNED == 0, "{:#x} has two owners", start + offset * WORD);
        }
    }

    /// Gives `[start, end)` back. To be called before another thread can take it.
    fn release(&self, start: usize, end: usize) {
        for (offset, word) in self.words(start, end).iter().enumerate() {
            let before = word.fetch_and(!OWNED, Ordering::Relaxed);
            assert!(before & OWNED != 0, "{:#x} was given up twice", start + offset * WORD);
        }
    }

    fn write(&self, start: usize, end: usize) {
        for word in self.words(start, end) {
            word.fetch_or(WRITTEN, Ordering::Relaxed);
        }
    }

    /// Checks that a piece lies in the heap, and is as clean as it says.
    fn check(&self, piece: Carve) {
        assert!(
            piece.start < piece.end && piece.start.is_multiple_of(WORD) && piece.end.is_multiple_of(WORD)
        );
        assert!((piece.start..=piece.end).contains(&piece.dirty), "{piece:x?}");
        for (offset, word) in self.words(piece.dirty, piece.end).iter().enumerate() {
            let written = word.load(Ordering::Relaxed) & WRITTEN != 0;
            assert!(
                !written,
                "{:#x} was written, and {piece:x?} says it is zero",
                piece.dirty + offset * WORD
            );
        }
    }

    /// All owners are gone, after the worst case: all their memory is written.
    fn abandon(&self) {
        for word in &self.words {
            if word.fetch_and(!OWNED, Ordering::Relaxed) & OWNED != 0 {
                word.fetch_or(WRITTEN, Ordering::Relaxed);
            }
        }
    }

    fn owned_bytes(&self) -> usize {
        self.words.iter().filter(|word| word.load(Ordering::Relaxed) & OWNED != 0).count() * WORD
    }
}

impl Backing for Arc<Memory> {
    fn commit(&self, index: usize) -> bool {
        let left = self.allowance.try_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1));
        if left.is_err() {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        assert!(!self.committed[index].swap(true, Ordering::AcqRel), "region {index} was committed twice");
        true
    }

    fn uncommit(&self, index: usize) -> bool {
        if self.stubborn.load(Ordering::Relaxed) {
            return false;
        }
        assert!(self.committed[index].swap(false, Ordering::AcqRel), "region {index} was uncommitted twice");
        let bottom = BASE + index * self.region_bytes;
        for word in self.words(bottom, bottom + self.region_bytes) {
            assert!(word.swap(0, Ordering::Relaxed) & OWNED == 0, "memory of region {index} was in use");
        }
        self.allowance.fetch_add(1, Ordering::AcqRel);
        true
    }
}

/// A heap of `regions` regions of `region_bytes` for `homes` cores. The system has memory for all
/// of it.
fn heap(
    region_bytes: usize,
    regions: usize,
    homes: usize,
    mode: RefillStrategy,
) -> (FreeSet<Arc<Memory>>, Arc<Memory>) {
    let memory = Arc::new(Memory {
        region_bytes,
        allowance: AtomicUsize::new(regions),
        stubborn: AtomicBool::new(false),
        refusals: AtomicUsize::new(0),
        committed: (0..regions).map(|_| AtomicBool::new(false)).collect(),
        words: (0..regions * region_bytes / WORD).map(|_| AtomicU8::new(0)).collect(),
    });
    let geometry = Geometry { region_shift: region_bytes.trailing_zeros(), regions };
    (FreeSet::new(RegionTable::new(BASE, geometry), memory.clone(), mode, homes), memory)
}

fn allocate<B: Backing>(free: &FreeSet<B>, home: usize, min: usize, desired: usize) -> Option<Carve> {
    free.allocate(home, min, desired, &mut Attempts::default())
}
