//! Pieces of a step's work, which workers and mutators that help take one by one.
//!
//! The rest of an interrupted piece goes back to the list. So a step can be gone on with by others.

use crate::sync::{Mutex, MutexGuard, POISONED};

/// Pieces of work that are left.
pub(super) struct WorkList<T> {
    inner: Mutex<Pieces<T>>,
}

struct Pieces<T> {
    left: Vec<T>,
    /// Pieces that threads are at work on.
    under_way: usize,
}

impl<T> Default for WorkList<T> {
    fn default() -> Self {
        WorkList { inner: Mutex::new(Pieces { left: Vec::new(), under_way: 0 }) }
    }
}

impl<T> WorkList<T> {
    fn lock(&self) -> MutexGuard<'_, Pieces<T>> {
        self.inner.lock().expect(POISONED)
    }

    /// Sets what is to be done, while no thread is at work on a piece.
    pub(super) fn fill(&self, left: Vec<T>) {
        *self.lock() = Pieces { left, under_way: 0 };
    }

    /// A piece to do, which is to be [ended](Self::end).
    pub(super) fn take(&self) -> Option<T> {
        let mut pieces = self.lock();
        let next = pieces.left.pop();
        pieces.under_way += usize::from(next.is_some());
        next
    }

    /// Ends the work on a piece, of which `rest` is left.
    pub(super) fn end(&self, rest: Option<T>) {
        let mut pieces = self.lock();
        // There is room for it: it was there before.
        pieces.left.extend(rest);
        pieces.under_way -= 1;
    }

    /// Whether nothing is left; `None`: threads are at work on the last pieces.
    pub(super) fn is_done(&self) -> Option<bool> {
        let pieces = self.lock();
        match (pieces.left.is_empty(), pieces.under_way) {
            (true, 0) => Some(true),
            (true, _) => None,
            (false, _) => Some(false),
        }
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }
}
