//! Workers made of functions: attached to a heap, or not attached.

use crate::harness::Worker;
use allotment::Mutator;

/// A worker on an attached thread. Collections do not wait for the thread while it is idle.
pub(super) struct Attached<'m, 't, F> {
    mutator: &'m mut Mutator<'t>,
    body: F,
}

impl<'m, 't, F: FnMut(&mut Mutator<'t>) -> u64> Attached<'m, 't, F> {
    /// A worker that calls `body` as its batch.
    pub(super) fn new(mutator: &'m mut Mutator<'t>, body: F) -> Self {
        Attached { mutator, body }
    }
}

impl<'t, F: FnMut(&mut Mutator<'t>) -> u64> Worker for Attached<'_, 't, F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        (self.body)(self.mutator)
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.mutator.blocking(wait);
    }
}

/// A worker that needs no heap, or attaches itself.
pub(super) struct Alone<F>(pub(super) F);

impl<F: FnMut() -> u64> Worker for Alone<F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        (self.0)()
    }
}
