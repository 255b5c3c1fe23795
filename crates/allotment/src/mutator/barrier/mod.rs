//! Reading and writing the slots of objects.
//!
//! Every reference slot is read and written here and nowhere else, except the slots of a new object
//! until its thread's next safepoint. A store's Release publishes a fresh object along with the
//! reference to it. A load sees the object: by Acquire, or on AArch64 by the address dependency
//! (`load_reference`). On x86-64 both are plain moves.
//!
//! A collector that works while threads run sets bits in the thread's hot part
//! ([`Hot::BARRIERS_OFFSET`]). Each barrier tests its own bits, with one instruction, and takes a
//! slow path (`slow.rs`) where they are set:
//!
//! | operation | tests | then |
//! |---|---|---|
//! | `load` | FORWARDING | the referent's new place; the slot is healed |
//! | `store` | MARKING | hands over what the slot held |
//! | `load_weak` | all three | kept while marking; null if dead; or as `load` |
//! | `compare_exchange` | FORWARDING, MARKING | both |
//! | `store_slots`, `copy_slots` | the same, once | both, a range at a time (`range.rs`) |
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

mod entries;
mod range;
mod slow;

use super::{BarrierKind, Hot, RawMutator};
use crate::platform::{exchange_unread, load_reference};
use std::hint::cold_path;
use std::sync::atomic::{AtomicU64, Ordering};

impl RawMutator<'_> {
    /// Whether one of these barriers is in force.
    #[inline(always)]
    fn has_barrier(&self, bits: u32) -> bool {
        self.state().hot.barriers() & bits != 0
    }

    /// Reads a slot. The referent is valid until this thread's next safepoint.
    ///
    /// # Safety
    /// - `slot` is a strong slot of a live object of this heap, or a strong handle's word.
    /// - The slot was written since the object was allocated.
    #[inline(always)]
    pub unsafe fn load(&self, slot: *const u64) -> u64 {
        // SAFETY: a live slot is an aligned word that all threads access atomically.
        let slot = unsafe { AtomicU64::from_ptr(slot.cast_mut()) };
        let bits = load_reference(slot);
        if self.has_barrier(BarrierKind::Load.bits()) {
            cold_path();
            // SAFETY: the caller's predicate.
            return unsafe { entries::call_load(self.hot(), slot.as_ptr(), bits) };
        }
        bits
    }

    /// Reads a weak slot: null if the referent is dead. The referent is valid until this thread's
    /// next safepoint.
    ///
    /// # Safety
    /// - As for [`load`](Self::load), for a weak slot or a weak handle's word.
    #[inline(always)]
    pub unsafe fn load_weak(&self, slot: *const u64) -> u64 {
        // SAFETY: as for `load`.
        let slot = unsafe { AtomicU64::from_ptr(slot.cast_mut()) };
        let bits = slot.load(Ordering::Acquire);
        if self.has_barrier(BarrierKind::LoadWeak.bits()) { self.load_weak_slow(slot, bits) } else { bits }
    }

    /// Whether a weak slot's referent lives, as far as the collector knows. Unlike
    /// [`load_weak`](Self::load_weak) it keeps nothing alive.
    ///
    /// # Safety
    /// - As for [`load_weak`](Self::load_weak).
    #[inline(always)]
    pub unsafe fn is_weak_live(&self, slot: *const u64) -> bool {
        // SAFETY: as for `load`.
        let bits = unsafe { AtomicU64::from_ptr(slot.cast_mut()) }.load(Ordering::Acquire);
        bits != 0 && (!self.has_barrier(Hot::WEAK) || self.is_live_slow(bits))
    }

    /// Writes a slot, and dirties its card.
    ///
    /// A new object's slots may be written in any other way until the thread's next safepoint,
    /// because the object is young, and as long as no other thread can reach the object. Generated
    /// code writes slots as this function does: [`Hot::CARDS_OFFSET`], [`Hot::BARRIERS_OFFSET`].
    ///
    /// # Safety
    /// - `slot` is a slot of a live object of this heap, and lies inside that object.
    /// - `bits` refers to a live object of this heap, or to none.
    #[inline(always)]
    pub unsafe fn store(&self, slot: *mut u64, bits: u64) {
        if self.has_barrier(BarrierKind::Store.bits()) {
            cold_path();
            // SAFETY: the caller's predicates.
            unsafe { entries::call_store(self.hot(), slot) };
        }
        // SAFETY: as for `load`, and the caller's predicate.
        unsafe {
            AtomicU64::from_ptr(slot).store(bits, Ordering::Release);
            self.dirty_card(slot);
        }
    }

    /// Writes `new` to a slot if it holds `expected`, and dirties its card. Returns what the slot
    /// held: `Ok` if it was `expected`.
    ///
    /// # Errors
    /// The word that the slot held, if it was another.
    ///
    /// # Safety
    /// - As for [`store`](Self::store), for both words; `slot` is not a weak slot.
    #[inline(always)]
    pub unsafe fn compare_exchange(&self, slot: *mut u64, expected: u64, new: u64) -> Result<u64, u64> {
        // SAFETY: as for `load`.
        let word = unsafe { AtomicU64::from_ptr(slot) };
        let outcome = if self.has_barrier(BarrierKind::CompareExchange.bits()) {
            self.compare_exchange_slow(word, expected, new)
        } else {
            word.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire)
        };
        if outcome.is_ok() {
            // SAFETY: the caller's predicate.
            unsafe { self.dirty_card(slot) };
        }
        outcome
    }

    /// # Safety
    /// - The slot lies in the heap.
    #[inline(always)]
    unsafe fn dirty_card(&self, slot: *mut u64) {
        // The exchange lets a thread that cleans the card find the stored reference, even if other
        // threads dirty the card, too.
        // SAFETY: the slot lies in the heap, so this is a byte of its card table, which all access
        // as atomics. Threads that clean the card beside mutators exchange the byte.
        unsafe { exchange_unread::<{ Hot::DIRTY_CARD }>(self.cards(), slot as usize >> Hot::CARD_SHIFT) };
    }
}
