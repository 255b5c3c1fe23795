//! Barriers of many slots at once: one look at the bits, one call of the collector, one byte for
//! each card.
//!
//! Each word is still one atomic access, as other threads may load or store any of the slots.

use super::super::{Hot, RawMutator};
use crate::platform::load_reference;
use std::hint::cold_path;
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

/// The slots of a range.
///
/// # Safety
/// - `count` slots of a live object begin at `first`, and the object lives for all of `'s`.
unsafe fn slots_at<'s>(first: *const u64, count: usize) -> &'s [AtomicU64] {
    // SAFETY: the caller's predicate. Slots are aligned words that all threads access atomically.
    unsafe { slice::from_raw_parts(first.cast(), count) }
}

impl RawMutator<'_> {
    /// Writes `bits` to `count` slots from `first` on, as [`store`](Self::store) does to each.
    ///
    /// # Safety
    /// - The slots lie side by side in one live object of this heap, and each holds a word.
    /// - `bits` refers to a live object of this heap, or to none.
    pub unsafe fn store_slots(&self, first: *mut u64, count: usize, bits: u64) {
        // SAFETY: the caller's predicate.
        let slots = unsafe { slots_at(first, count) };
        self.record_old_words(slots);
        slots.iter().for_each(|slot| slot.store(bits, Ordering::Release));
        self.dirty_cards(slots);
    }

    /// Copies `count` slots from `from` on to those from `to` on, as if through a temporary copy:
    /// the two may overlap.
    ///
    /// # Safety
    /// - As for [`store_slots`](Self::store_slots), for both ranges. No slot is weak.
    pub unsafe fn copy_slots(&self, to: *mut u64, from: *const u64, count: usize) {
        let backward = from.addr() < to.addr();
        // SAFETY: the caller's predicate.
        let (to, from) = unsafe { (slots_at(to, count), slots_at(from, count)) };
        self.record_old_words(to);
        if self.has_barrier(Hot::FORWARDING) {
            cold_path();
            // From here on no slot of the range is stale: no thread has a stale reference to store.
            let shared = self.shared();
            shared.concurrent().heal(&shared.space, from);
        }
        let copy = |(to, from): (&AtomicU64, &AtomicU64)| to.store(load_reference(from), Ordering::Release);
        let pairs = to.iter().zip(from);
        if backward {
            pairs.rev().for_each(copy)
        } else {
            pairs.for_each(copy)
        }
        self.dirty_cards(to);
    }

    /// Hands over what the slots of one object hold, before they are overwritten.
    fn record_old_words(&self, slots: &[AtomicU64]) {
        if self.has_barrier(Hot::MARKING) {
            cold_path();
            let shared = self.shared();
            shared.concurrent().hidden_by_stores(&shared.space, slots, &mut |word| {
                self.state().satb.record(word, &shared.threads.satb);
            });
        }
    }

    /// Dirties the cards of these slots.
    fn dirty_cards(&self, slots: &[AtomicU64]) {
        const SLOTS: usize = (1 << Hot::CARD_SHIFT) / size_of::<u64>();
        let last = slots.len().saturating_sub(1);
        for slot in slots.iter().step_by(SLOTS).chain(slots.get(last)) {
            // SAFETY: a slot of an object of this heap.
            unsafe { self.dirty_card(slot.as_ptr()) };
        }
    }
}
