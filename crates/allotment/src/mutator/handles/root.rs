//! Owned roots: handles that may be stored anywhere and dropped by any thread, attached or not.

use crate::mutator::roots::{RootSlot, RootTable};
use crate::mutator::{Mutator, RawMutator, Shared};
use crate::object::reference;
use std::sync::Arc;

/// An owned root: a word that a collector keeps up to date, strong or weak.
///
/// It keeps its heap's memory alive, but does not keep a thread attached.
pub struct RootHandle {
    shared: Arc<Shared>,
    slot: RootSlot,
    weak: bool,
}

impl RootHandle {
    /// The word. Valid until the next safepoint of the calling thread.
    #[inline]
    pub fn get(&self, mutator: &Mutator<'_>) -> Option<u64> {
        self.is_of(mutator).then(|| {
            let slot = self.slot.word().as_ptr();
            // SAFETY: a root of this heap; its word refers to a live object or to none.
            unsafe { if self.weak { mutator.raw().load_weak(slot) } else { mutator.raw().load(slot) } }
        })
    }

    /// Replaces the word; `false` if the mutator is another heap's.
    ///
    /// # Safety
    /// - `bits` refers to a live object of the mutator's heap, or to none.
    #[inline]
    pub unsafe fn set(&self, mutator: &Mutator<'_>, bits: u64) -> bool {
        let own = self.is_of(mutator);
        if own {
            // SAFETY: a root of this heap, and the caller's predicate.
            unsafe { mutator.raw().store_root(self.slot.word(), bits) };
            if reference(bits).is_some() {
                self.table().stored(self.slot);
            }
        }
        own
    }

    /// Whether the root belongs to the heap that the mutator is attached to.
    #[inline]
    pub fn is_of(&self, mutator: &Mutator<'_>) -> bool {
        Arc::as_ptr(&self.shared) == Arc::as_ptr(&mutator.state().shared)
    }

    fn table(&self) -> &RootTable {
        self.shared.threads.roots.handles(self.weak)
    }
}

/// Another root that holds the same word. No thread needs to be attached for this.
impl Clone for RootHandle {
    fn clone(&self) -> Self {
        self.shared.after_fork_or_abort();
        let slot = self.table().copy(self.slot, |copied| self.shared.copied_root(copied, self.weak));
        RootHandle { shared: self.shared.clone(), slot, weak: self.weak }
    }
}

impl Drop for RootHandle {
    fn drop(&mut self) {
        // In an unusable child of `fork()` the lock may never be released, and no code reads the
        // slots any more.
        if self.shared.after_fork().is_ok() {
            self.table().give(self.slot, |taken| self.shared.dropped_root(taken, self.weak));
        }
    }
}

impl RawMutator<'_> {
    /// A root that holds `bits`.
    ///
    /// # Safety
    /// - `bits` refers to a live object of this heap, or to none.
    pub unsafe fn new_root(&self, bits: u64) -> RootHandle {
        self.root(bits, false)
    }

    /// A root that does not keep its referent alive. It becomes null when the referent dies.
    ///
    /// # Safety
    /// - As for [`new_root`](Self::new_root).
    pub unsafe fn new_weak_root(&self, bits: u64) -> RootHandle {
        self.root(bits, true)
    }

    fn root(&self, bits: u64, weak: bool) -> RootHandle {
        let shared = self.state().shared.clone();
        shared.after_fork_or_abort();
        let slot = shared.threads.roots.handles(weak).take(bits);
        RootHandle { shared, slot, weak }
    }
}
