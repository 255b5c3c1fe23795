//! Reading and writing the slots of objects.
//!
//! Every reference slot is read and written here and nowhere else, so that a collector that works while
//! mutators run has one place to stand in. Acquire and release publish a fresh object along with the reference to it; on
//! x86-64 both are plain moves. No collector of today needs more.

use super::Mutator;
use std::sync::atomic::{AtomicU64, Ordering};

impl Mutator<'_> {
    /// Reads a slot. What it refers to is valid until this thread's next safepoint.
    ///
    /// # Safety
    /// - `slot` is a slot of a live object of this heap.
    #[inline(always)]
    pub unsafe fn load(&self, slot: *const u64) -> u64 {
        // SAFETY: a live slot is an aligned word that all threads access atomically.
        unsafe { AtomicU64::from_ptr(slot.cast_mut()) }.load(Ordering::Acquire)
    }

    /// Writes a slot.
    ///
    /// # Safety
    /// - `slot` is a slot of a live object of this heap.
    /// - `bits` refers to a live object of this heap, or to none.
    #[inline(always)]
    pub unsafe fn store(&self, slot: *mut u64, bits: u64) {
        // SAFETY: as for `load`.
        unsafe { AtomicU64::from_ptr(slot) }.store(bits, Ordering::Release);
    }
}
