//! Numbers that workers take one after another, each once: the simplest way to share a list.
//!
//! A share for each worker ahead of time was refused: nobody knows what a region costs before it was done.

use crate::sync::{AtomicUsize, Ordering};

/// The numbers below a count.
pub(crate) struct Turns {
    next: AtomicUsize,
    count: usize,
}

impl Turns {
    pub(crate) fn new(count: usize) -> Turns {
        Turns { next: AtomicUsize::new(0), count }
    }

    /// The least number that nobody took, until there is none.
    pub(crate) fn take(&self) -> Option<usize> {
        // Relaxed: what a number stands for was there before the workers began.
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        (turn < self.count).then_some(turn)
    }
}
