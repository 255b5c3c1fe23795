//! The interrupt of a step, and the work that is left for the workers that continue it.
//!
//! A thread that stops the world must not wait for the end of marking. So each worker looks at a
//! flag every few objects. An interrupted worker leaves its entries for the workers that go on
//! later.

use crate::sync::{AtomicBool, Mutex, Ordering, POISONED};

/// Whether workers are to stop at the next border of their pieces.
#[derive(Default)]
pub(in crate::collector) struct Interrupt {
    /// Written by a thread that wants the workers to stop, and cleared by the control thread.
    /// SeqCst: the control thread also reads the number of such threads.
    wanted: AtomicBool,
}

impl Interrupt {
    /// Asks workers to stop, or takes that back.
    pub(in crate::collector) fn set(&self, on: bool) {
        self.wanted.store(on, Ordering::SeqCst);
    }

    /// Whether workers are to stop.
    #[inline]
    pub(in crate::collector) fn is_set(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }
}

/// Entries of work stacks, or addresses of objects, that are left for later.
#[derive(Default)]
pub(in crate::collector) struct Leftover {
    pieces: Mutex<Vec<Vec<usize>>>,
    /// A mutator that has time to help has found nothing here. Written by that mutator, and by the
    /// worker that leaves something. Relaxed: a hint.
    wanted: AtomicBool,
    /// There was no memory for entries, which were lost. Relaxed: read when all workers have
    /// finished.
    lost: AtomicBool,
}

impl Leftover {
    /// Leaves these entries for later.
    pub(in crate::collector) fn leave(&self, entries: Vec<usize>) {
        if entries.is_empty() {
            return;
        }
        let mut pieces = self.pieces.lock().expect(POISONED);
        if pieces.try_reserve(1).is_err() {
            return self.lose();
        }
        pieces.push(entries);
        self.wanted.store(false, Ordering::Relaxed);
    }

    /// Asks workers to leave something.
    pub(in crate::collector) fn want(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    /// Takes over all that `other` has left. Nothing is left here.
    fn take_over(&self, other: &Leftover) {
        debug_assert!(self.is_empty(), "what was left is taken over, not added");
        *self.pieces.lock().expect(POISONED) = std::mem::take(&mut *other.pieces.lock().expect(POISONED));
        if other.has_lost() {
            self.lose();
        }
        other.forget();
    }

    /// Whether a mutator wants entries to be left.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    /// Whether nothing is left.
    pub(in crate::collector) fn is_empty(&self) -> bool {
        self.pieces.lock().expect(POISONED).is_empty()
    }

    /// Entries that were left.
    pub(in crate::collector) fn take(&self) -> Option<Vec<usize>> {
        self.pieces.lock().expect(POISONED).pop()
    }

    /// Notes that entries were lost.
    pub(in crate::collector) fn lose(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Whether entries were lost since [`forget`](Self::forget).
    pub(in crate::collector) fn has_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Forgets everything.
    pub(in crate::collector) fn forget(&self) {
        self.pieces.lock().expect(POISONED).clear();
        self.wanted.store(false, Ordering::Relaxed);
        self.lost.store(false, Ordering::Relaxed);
    }
}

/// The work that markers leave to others.
#[derive(Default)]
pub(in crate::collector) struct MarkLeftover {
    /// Objects that were found and not marked yet, and chunks of arrays.
    pub(in crate::collector) found: Leftover,
    /// Marked objects with weak slots.
    pub(in crate::collector) weak_objects: Leftover,
}

impl MarkLeftover {
    /// Takes over all that `other` has left. Nothing is left here.
    pub(in crate::collector) fn take_over(&self, other: &MarkLeftover) {
        self.found.take_over(&other.found);
        self.weak_objects.take_over(&other.weak_objects);
    }

    /// Whether entries were lost since [`forget`](Self::forget).
    pub(in crate::collector) fn has_lost(&self) -> bool {
        self.found.has_lost() || self.weak_objects.has_lost()
    }

    /// Forgets everything.
    pub(in crate::collector) fn forget(&self) {
        self.found.forget();
        self.weak_objects.forget();
    }
}
