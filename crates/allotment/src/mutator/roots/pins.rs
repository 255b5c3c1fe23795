//! Pinned objects: alive and in place as long as code outside holds their address.
//!
//! A table has a count for each object. Pins are few, and a bit in the header could not count.
//! Collectors leave a pinned object where it is and work around it.

use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeMap;

#[derive(Default)]
pub(in crate::mutator) struct Pins {
    /// Number of pins of each object, by its address. Never 0.
    counts: Mutex<BTreeMap<usize, usize>>,
}

impl Pins {
    pub(super) fn is_at_rest(&self) -> bool {
        self.counts.try_lock().is_ok()
    }

    pub(in crate::mutator) fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        super::lock(&self.counts, "a thread panicked while it changed the table of pins")
    }

    /// Number of pinned objects.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn visit(&self, pinned: &mut dyn FnMut(usize)) {
        self.lock().keys().for_each(|&address| pinned(address));
    }
}
