//! Pinned objects: alive and in place as long as code outside holds their address.
//!
//! A table has a count for each object. Pins are few, and a bit in the header could not count.
//! Collectors leave a pinned object where it is and work around it.

use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Default)]
pub(crate) struct Pins {
    inner: Mutex<PinCounts>,
    /// Number of pinned objects. Written under the lock, Relaxed: for readers without it.
    objects: AtomicUsize,
}

#[derive(Default)]
struct PinCounts {
    /// Number of pins of each object, by its address. Never 0.
    counts: BTreeMap<usize, usize>,
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot). Changed in stops.
    barriers: u32,
}

impl Pins {
    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    fn lock(&self) -> MutexGuard<'_, PinCounts> {
        super::lock_roots(&self.inner, "a thread panicked while it changed the table of pins")
    }

    /// Pins the object at this address once more.
    pub(in crate::mutator) fn pin(&self, address: usize) {
        let mut inner = self.lock();
        *inner.counts.entry(address).or_insert(0) += 1;
        self.objects.store(inner.counts.len(), Ordering::Relaxed);
    }

    /// Takes a pin of the object at this address back. If it was the last, `taken` is
    /// called with the barriers in force, under the lock.
    pub(in crate::mutator) fn unpin(&self, address: usize, taken: impl FnOnce(u32)) {
        let mut inner = self.lock();
        let Some(count) = inner.counts.get_mut(&address) else { return };
        *count -= 1;
        if *count == 0 {
            inner.counts.remove(&address);
            self.objects.store(inner.counts.len(), Ordering::Relaxed);
            taken(inner.barriers);
        }
    }

    /// Puts these barriers in force. In a stop.
    pub(super) fn set_barriers(&self, barriers: u32) {
        self.lock().barriers = barriers;
    }

    /// Number of pinned objects, at about this moment. Takes no lock.
    pub(super) fn count(&self) -> usize {
        self.objects.load(Ordering::Relaxed)
    }

    /// Calls `pinned` with the address of every object that a [`Pin`](crate::mutator::Pin) holds. No
    /// thread can pin meanwhile.
    pub(crate) fn visit(&self, pinned: &mut dyn FnMut(usize)) {
        self.lock().counts.keys().for_each(|&address| pinned(address));
    }
}
