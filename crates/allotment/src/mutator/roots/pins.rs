//! Pinned objects: alive and in place as long as code outside holds their address.
//!
//! A table has a count for each object. Pins are few, and a bit in the header could not count.
//! Collectors leave a pinned object where it is and work around it.

use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;

#[derive(Default)]
pub(in crate::mutator) struct Pins(Mutex<Inner>);

#[derive(Default)]
pub(in crate::mutator) struct Inner {
    /// Number of pins of each object, by its address. Never 0.
    pub(in crate::mutator) counts: BTreeMap<usize, usize>,
    /// The barriers in force, as bits of [`Hot`](crate::mutator::Hot). Changed in stops.
    pub(in crate::mutator) barriers: u32,
}

impl Pins {
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.try_lock().is_ok()
    }

    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, Inner> {
        super::lock_roots(&self.0, "a thread panicked while it changed the table of pins")
    }

    /// Number of pinned objects.
    pub(super) fn count(&self) -> usize {
        self.lock().counts.len()
    }

    pub(super) fn visit(&self, pinned: &mut dyn FnMut(usize)) {
        self.lock().counts.keys().for_each(|&address| pinned(address));
    }
}
