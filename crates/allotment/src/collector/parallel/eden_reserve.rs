//! The last part of eden, which is kept back until the rest of it is full.
//!
//! A mutator that finds eden full but for that part opens it, without a stop, and has the control
//! thread look for a time at which no mutator runs ([`idle`](super::idle)).

use crate::collector::record::{IdleLook, LastPart};
use crate::collector::sizing::Decision;
use crate::region::{Backing, FreeSet};
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::sync::PoisonError;
use std::time::Duration;

/// The part of eden that is kept back: one of so many.
const LAST_PART: usize = 8;

/// What is kept back of eden.
pub(super) struct EdenReserve {
    /// `CollectWhenIdle`.
    enabled: bool,
    /// Regions that mutators fill at the same time. With fewer they would take from each other what
    /// they have begun.
    homes: usize,
    /// Regions that may be in use once the last part of eden is open; 0: none is kept back. Written in
    /// the stopped world, made larger and cleared by mutators. Released by the mutator that clears it:
    /// one that finds nothing kept back finds the capacity.
    whole: AtomicUsize,
    /// What is to be told of the last part, once it was opened. Written by the mutator that opens it,
    /// and taken in the stopped world, where nobody has the lock.
    opened: Mutex<Option<LastPart>>,
}

impl EdenReserve {
    /// Of a heap in which so many regions are filled at the same time.
    pub(super) fn new(enabled: bool, homes: usize) -> EdenReserve {
        EdenReserve { enabled, homes, whole: AtomicUsize::new(0), opened: Mutex::new(None) }
    }

    /// In a child of `fork()`: whether nobody has the lock, for who has it could not give it back.
    pub(super) fn is_at_rest(&self) -> bool {
        self.opened.try_lock().is_ok()
    }

    /// Eden is empty, and so many regions are in use: how many may be. In the stopped world, or while
    /// no thread is attached.
    pub(super) fn begin(&self, in_use: usize, decision: &Decision) -> usize {
        self.whole.store(0, Ordering::Relaxed);
        *self.lock_opened() = None;
        // What comes next may be a full collection: nobody should come back into the midst of that.
        if decision.full { in_use + decision.eden_regions } else { self.keep(in_use, decision.eden_regions) }
    }

    /// Keeps the last part back of an eden of so many regions, behind those in use: how many may be in
    /// use without it.
    pub(super) fn keep(&self, in_use: usize, eden_regions: usize) -> usize {
        let (whole, last) = (in_use + eden_regions, eden_regions / LAST_PART);
        if !self.enabled || last == 0 || eden_regions - last < self.homes {
            return whole;
        }
        self.whole.fetch_max(whole, Ordering::Relaxed);
        whole - last
    }

    /// Opens what is kept back of eden; `false`: nothing is. The mutator that opens it tells so by
    /// `after`, the time since eden was empty, and by `look`, which it calls with that.
    pub(super) fn open<B: Backing>(
        &self,
        free: &FreeSet<B>,
        after: impl FnOnce() -> Duration,
        look: impl FnOnce(Duration) -> IdleLook,
    ) -> bool {
        let whole = self.whole.load(Ordering::Acquire);
        if whole == 0 {
            return false;
        }
        // First, so that a mutator that comes too late to open it finds room.
        free.raise_capacity(whole);
        if self.whole.compare_exchange(whole, 0, Ordering::Release, Ordering::Relaxed).is_ok() {
            let after = after();
            *self.lock_opened() = Some(LastPart { after, look: look(after) });
        }
        true
    }

    /// What became of the last part since eden was empty, if it was opened. In the stopped world.
    pub(super) fn opened(&self) -> Option<LastPart> {
        *self.lock_opened()
    }

    fn lock_opened(&self) -> MutexGuard<'_, Option<LastPart>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_kept_back_once_and_of_no_small_eden() {
        let (on, off) = (EdenReserve::new(true, 4), EdenReserve::new(false, 4));
        for (in_use, eden, kept) in [(0, 7, 7), (3, 8, 10), (0, 64, 56), (5, 23, 26)] {
            assert_eq!(off.keep(in_use, eden), in_use + eden);
            on.whole.store(0, Ordering::Relaxed);
            assert_eq!(on.keep(in_use, eden), kept);
            let whole = if eden < LAST_PART { 0 } else { in_use + eden };
            assert_eq!((on.whole.load(Ordering::Relaxed), off.whole.load(Ordering::Relaxed)), (whole, 0));
        }
        let many = EdenReserve::new(true, 60);
        assert_eq!(many.keep(0, 64), 64, "each core has a region");
        assert_eq!(many.keep(0, 70), 62);
    }
}
