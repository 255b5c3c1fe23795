//! The slow paths of barriers, while a collector works beside the threads.
//!
//! The collector says which objects it has yet to mark, which are live, and where an object is now
//! ([`Concurrent`]). This file says what that means for a slot. No slow path waits or reaches a
//! safepoint: the caller is inside a span.
//!
//! A slot is *healed* by a compare-and-swap from the word that was read: another thread may have
//! stored since. Its Release publishes the copy (Flood, Kennke and others, PPPJ 2016: Shenandoah).

use crate::mutator::roots::Changed;
use crate::mutator::{Concurrent, Hot, RawMutator, Shared};
use crate::object::{ADDRESS_MASK, reference, with_reference};
use std::sync::atomic::{AtomicU64, Ordering};

impl Shared {
    /// The collector, as barriers see it.
    pub(super) fn concurrent(&self) -> &dyn Concurrent {
        self.collector.concurrent().expect("only a concurrent collector sets barriers")
    }

    /// Whether the word refers to an object that is not known to be live.
    fn is_dead(&self, bits: u64) -> bool {
        reference(bits).is_some_and(|address| !self.concurrent().is_live(&self.space, address))
    }

    /// Whether the word refers to an object that marking has yet to find.
    fn is_sought(&self, bits: u64) -> bool {
        reference(bits).is_some_and(|address| self.concurrent().is_sought(&self.space, address))
    }

    /// The word whose referent is where the collector has put it.
    fn forwarded(&self, bits: u64) -> u64 {
        match reference(bits) {
            Some(address) => with_reference(bits, self.concurrent().forward(&self.space, address)),
            None => bits,
        }
    }

    /// The new word of a handle that was copied.
    pub(in crate::mutator) fn copied_root(&self, copied: Changed, weak: bool) -> u64 {
        let Changed { barriers, word } = copied;
        // The visit of weak handles may have passed the copy's place.
        if weak && barriers & Hot::WEAK != 0 && self.is_dead(word) { 0 } else { word }
    }

    /// A handle that held this word was dropped, by any thread.
    pub(in crate::mutator) fn dropped_root(&self, taken: Changed, weak: bool) {
        let Changed { barriers, word } = taken;
        if !weak && barriers & Hot::MARKING != 0 && self.is_sought(word) {
            self.threads.satb.give_word(word);
        }
    }
}

impl RawMutator<'_> {
    #[cold]
    #[inline(never)]
    pub(super) fn load_forwarded(&self, slot: &AtomicU64, bits: u64) -> u64 {
        let forwarded = self.shared().forwarded(bits);
        if forwarded != bits {
            // Otherwise another thread healed it, or stored.
            let _ = slot.compare_exchange(bits, forwarded, Ordering::Release, Ordering::Relaxed);
        }
        forwarded
    }

    #[cold]
    #[inline(never)]
    pub(super) fn load_weak_slow(&self, slot: &AtomicU64, bits: u64) -> u64 {
        let barriers = self.state().hot.barriers();
        if reference(bits).is_none() {
            return bits;
        }
        if barriers & Hot::MARKING != 0 {
            self.keep(bits);
        }
        if barriers & Hot::WEAK != 0 && !self.is_live_slow(bits) {
            return 0;
        }
        if barriers & Hot::FORWARDING != 0 { self.load_forwarded(slot, bits) } else { bits }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn is_live_slow(&self, bits: u64) -> bool {
        reference(bits).is_some() && !self.shared().is_dead(bits)
    }

    /// Hands over what the slot holds, before it is overwritten. A slot of an object that was born
    /// since marking began hides nothing, and may not hold a word yet.
    #[cold]
    #[inline(never)]
    pub(super) fn record_old(&self, slot: &AtomicU64) {
        let shared = self.shared();
        if let Some(word) = shared.concurrent().hidden_by_store(&shared.space, slot) {
            self.state().satb.record(word, &shared.threads.satb);
        }
    }

    /// Lets marking find the referent.
    fn keep(&self, bits: u64) {
        let shared = self.shared();
        if shared.is_sought(bits) {
            self.state().satb.record(bits, &shared.threads.satb);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn compare_exchange_slow(
        &self,
        slot: &AtomicU64,
        expected: u64,
        new: u64,
    ) -> Result<u64, u64> {
        let barriers = self.state().hot.barriers();
        loop {
            let mut held = slot.load(Ordering::Acquire);
            if barriers & Hot::FORWARDING != 0 {
                held = self.load_forwarded(slot, held);
            }
            if held != expected {
                return Err(held);
            }
            if barriers & Hot::MARKING != 0 {
                // A thread that overwrote `held` since then has handed it over.
                self.record_old(slot);
            }
            // The slot holds `expected`, or its stale form if it was not healed.
            match slot.compare_exchange(expected, new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(held) => return Ok(held),
                Err(now) if barriers & Hot::FORWARDING != 0 && (now ^ expected) & !ADDRESS_MASK == 0 => {}
                Err(now) => return Err(now),
            }
        }
    }

    /// Replaces the word of a handle.
    ///
    /// # Safety
    /// - The slot is a handle's, and `bits` refers to a live object of this heap or to none.
    #[inline]
    pub(in crate::mutator) unsafe fn store_root(&self, slot: &AtomicU64, bits: u64) {
        if self.has_barrier(Hot::MARKING) {
            self.keep(slot.load(Ordering::Acquire));
        }
        slot.store(bits, Ordering::Release);
    }
}
