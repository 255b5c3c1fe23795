//! Reading and writing the slots of objects.
//!
//! Every reference slot is read and written here and nowhere else, except the slots of a new object
//! until its thread's next safepoint. Acquire and release publish a fresh object along with the
//! reference to it; on x86-64 both are plain moves.
//!
//! After a store the barrier dirties the slot's card with three unconditional instructions,
//! whatever the collector:
//!
//! ```text
//! shr  slot, 9
//! add  slot, [state + 56]      the card table, biased
//! mov  byte [slot], 1
//! ```
//!
//! Rust code takes the card table from the mutator itself, generated code takes it from the state.
//!
//! Refused:
//! - To test whether the object is old or the referent young. That adds a load that the store does
//!   not need, and branches that programs take either way.
//! - Code that knows the collector: twice the code, or a branch.
//! - To test whether the card is dirty already. On Zen 3, where alternating stores to two lines are
//!   slow, a loop of stores took 0.49 ns for each instead of 1.56. But random stores into 256 MiB
//!   of old objects (`graph`, nothing dying) ran at three quarters of the speed: a load has to wait
//!   for the card, and a store does not.

use super::{Hot, Mutator};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

impl Mutator<'_> {
    /// Reads a slot. The referent is valid until this thread's next safepoint.
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
    /// A new object's slots may be written in any other way until the thread's next safepoint,
    /// because the object is young. Generated code does the same as this function:
    /// [`Hot::CARDS_OFFSET`].
    ///
    /// # Safety
    /// - `slot` is a slot of a live object of this heap, and lies inside that object.
    /// - `bits` refers to a live object of this heap, or to none.
    #[inline(always)]
    pub unsafe fn store(&self, slot: *mut u64, bits: u64) {
        // SAFETY: as for `load`.
        unsafe { AtomicU64::from_ptr(slot) }.store(bits, Ordering::Release);
        let card = self.cards().wrapping_add(slot as usize >> Hot::CARD_SHIFT);
        // Release: a thread that finds the card dirty also finds the stored reference.
        // SAFETY: the slot lies in the heap, so this is a byte of its card table, which all access
        // as atomics.
        unsafe { AtomicU8::from_ptr(card as *mut u8) }.store(Hot::DIRTY_CARD, Ordering::Release);
    }
}
