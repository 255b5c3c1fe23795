//! Pieces of a step's work, which workers and mutators that help take one by one.
//!
//! The rest of an interrupted piece goes back to the list. So other threads can continue the step.

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

    /// Sets the pieces, while no thread is at work on one.
    pub(super) fn fill(&self, left: Vec<T>) {
        *self.lock() = Pieces { left, under_way: 0 };
    }

    /// Calls `work` with a piece; `work` returns the rest of the piece, and a result. Returns the
    /// result, if there was a piece.
    pub(super) fn do_next<R>(&self, work: impl FnOnce(T) -> (Option<T>, R)) -> Option<R> {
        let mut pieces = self.lock();
        let piece = pieces.left.pop()?;
        pieces.under_way += 1;
        drop(pieces);
        let (rest, result) = work(piece);
        let mut pieces = self.lock();
        // There is room for the rest: the piece was there before.
        pieces.left.extend(rest);
        pieces.under_way -= 1;
        Some(result)
    }

    /// Whether no piece is left. `None` while threads are at work on the last pieces.
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
