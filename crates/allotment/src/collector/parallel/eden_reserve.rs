//! The last part of eden, which is kept back until the rest of eden is full.
//!
//! A mutator that finds eden full except for that part opens the part, without a stop. It also has
//! the control thread look for a time at which no mutator runs ([`idle`](super::idle)).

use crate::collector::record::{IdleLook, LastPart};
use crate::collector::sizing::Decision;
use crate::region::FreeSet;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use std::sync::PoisonError;
use std::time::Duration;

/// The part of eden that is kept back is one of this many.
const LAST_PART: usize = 8;

/// The reserve of eden.
pub(super) struct EdenReserve {
    /// `CollectWhenIdle`.
    enabled: bool,
    /// Regions that mutators fill at the same time. With fewer regions, mutators would take from
    /// each other the regions that they have begun.
    homes: usize,
    /// Regions that may be in use once the last part of eden is open; 0 if nothing is kept back.
    /// Written in the stopped world; mutators raise and clear it. Released by the mutator that
    /// clears it: a mutator that finds nothing kept back also finds the new capacity.
    whole: AtomicUsize,
    /// The record of the last part, once it was opened. Written by the mutator that opens it, and
    /// taken in the stopped world, where no thread holds the lock.
    opened: Mutex<Option<LastPart>>,
}

impl EdenReserve {
    /// The reserve of a heap in which mutators fill `homes` regions at the same time.
    pub(super) fn new(enabled: bool, homes: usize) -> EdenReserve {
        EdenReserve { enabled, homes, whole: AtomicUsize::new(0), opened: Mutex::new(None) }
    }

    /// In a child of `fork()`: whether no thread holds the lock. A holder would not be in the
    /// child, and could not release it.
    pub(super) fn is_at_rest(&self) -> bool {
        self.opened.try_lock().is_ok()
    }

    /// Begins with an empty eden and `in_use` regions in use; returns how many may be in use. In
    /// the stopped world, or while no thread is attached.
    pub(super) fn begin(&self, in_use: usize, decision: &Decision) -> usize {
        self.whole.store(0, Ordering::Relaxed);
        *self.lock_opened() = None;
        // A full collection may come next: no idle collection should interrupt it.
        if decision.full { in_use + decision.eden_regions } else { self.keep(in_use, decision.eden_regions) }
    }

    /// Keeps back the last part of an eden of `eden_regions` regions, besides those in use. Returns
    /// how many regions may be in use without the last part.
    pub(super) fn keep(&self, in_use: usize, eden_regions: usize) -> usize {
        let (whole, last) = (in_use + eden_regions, eden_regions / LAST_PART);
        if !self.enabled || last == 0 || eden_regions - last < self.homes {
            return whole;
        }
        self.whole.fetch_max(whole, Ordering::Relaxed);
        whole - last
    }

    /// Opens the reserve of eden. Returns `false` if nothing is kept back. The mutator that opens
    /// it records this: `after` gives the time since eden was empty, and `look` is called with that
    /// time.
    pub(super) fn open(
        &self,
        free: &FreeSet,
        after: impl FnOnce() -> Duration,
        look: impl FnOnce(Duration) -> IdleLook,
    ) -> bool {
        let whole = self.whole.load(Ordering::Acquire);
        if whole == 0 {
            return false;
        }
        // First, so that a mutator that comes too late to open the reserve finds room.
        free.raise_capacity(whole);
        if self.whole.compare_exchange(whole, 0, Ordering::Release, Ordering::Relaxed).is_ok() {
            let after = after();
            *self.lock_opened() = Some(LastPart { after, look: look(after) });
        }
        true
    }

    /// The record of the last part since eden was empty, if the part was opened. In the stopped
    /// world.
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
