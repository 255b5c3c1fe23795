//! Reading and writing the slots of objects.
//!
//! Every reference slot is read and written here and nowhere else, but for those of a new object until its thread's
//! next safepoint. Acquire and release publish a fresh object along with the reference to it; on x86-64 both are plain
//! moves.
//!
//! Behind a store the slot's card is dirtied, with three instructions and no question asked, whatever the collector:
//!
//! ```text
//! shr  slot, 9
//! add  slot, [state + 56]      the card table, biased
//! mov  byte [slot], 1
//! ```
//!
//! Rust code has the table from the mutator itself, generated code from the state.
//!
//! Refused: asking whether the object is old or the referent young (a load of what the store does not need, and
//! branches that programs take either way), and code that knows the collector (twice the code, or a branch). Also
//! asking whether the card is dirty already: on Zen 3, which is slow where stores to two lines take turns, a loop of
//! stores took 0.49 ns for each instead of 1.56, but stores at random into 256 MiB of old objects (`graph`, nothing
//! dying) were done at three quarters of the speed, since the load has to wait for the card and a store has not.

use super::{Hot, Mutator};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

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

    /// Writes a slot, and dirties its card.
    ///
    /// A new object's slots may be written in any other way until the thread's next safepoint: it is young. Generated
    /// code does the same as this: [`Hot::CARDS_OFFSET`].
    ///
    /// # Safety
    /// - `slot` is a slot of a live object of this heap, and lies inside that object.
    /// - `bits` refers to a live object of this heap, or to none.
    #[inline(always)]
    pub unsafe fn store(&self, slot: *mut u64, bits: u64) {
        // SAFETY: as for `load`.
        unsafe { AtomicU64::from_ptr(slot) }.store(bits, Ordering::Release);
        let card = self.cards().wrapping_add(slot as usize >> Hot::CARD_SHIFT);
        // Released, so that whoever finds the card dirty finds what was stored.
        // SAFETY: the slot lies in the heap, so this is a byte of its card table, which all access as atomics.
        unsafe { AtomicU8::from_ptr(card as *mut u8) }.store(Hot::DIRTY_CARD, Ordering::Release);
    }
}
