//! How mutators synchronise at the free set: by compare-and-swap, or, for comparison, under one
//! lock.
//!
//! `RefillStrategy=lock` is the method of Shenandoah before its compare-and-swap allocator
//! (JDK-8361099). The lock's effects are confined to this file and to the callers of
//! [`RefillLock`].

use crate::options::RefillStrategy;
use crate::sync::{Mutex, MutexGuard};

/// The lock, if the mode uses one.
pub(super) struct RefillLock(Option<Mutex<()>>);

impl RefillLock {
    pub(super) fn new(mode: RefillStrategy) -> RefillLock {
        RefillLock((mode == RefillStrategy::Lock).then(|| Mutex::new(())))
    }

    /// Whether threads take from a region only under the lock.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the lock, if there is one.
    pub(super) fn hold(&self) -> Option<MutexGuard<'_, ()>> {
        self.0.as_ref().map(|lock| lock.lock().expect("a thread panicked inside the free set"))
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.0.as_ref().is_none_or(|lock| lock.try_lock().is_ok())
    }
}
