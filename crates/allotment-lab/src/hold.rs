//! Locks that hold no invariant of their own: a thread that panicked with one left nothing half
//! done.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes a lock, even if a thread that held it has panicked.
#[inline(always)]
pub(crate) fn hold<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
