//! Indices that workers claim one after another, each once: the simplest way to share a list.
//!
//! Refused: a fixed share for each worker, because the cost of a region is known only afterwards.
//! If most indices cost very little, a worker claims several at once, and fewer as fewer are left
//! (guided self-scheduling: Polychronopoulos and Kuck, IEEE Transactions on Computers 1987).

use crate::sync::{AtomicUsize, Ordering};
use std::ops::Range;

/// The indices below a count; none by default.
#[derive(Default)]
pub(crate) struct Claimer {
    next: AtomicUsize,
    count: usize,
}

impl Claimer {
    pub(crate) fn new(count: usize) -> Claimer {
        Claimer { next: AtomicUsize::new(0), count }
    }

    /// Number of indices, claimed ones included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The least index that no worker claimed, until there is none.
    pub(crate) fn claim(&self) -> Option<usize> {
        // Relaxed: what an index stands for existed before the workers began.
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        (index < self.count).then_some(index)
    }

    /// The least indices that no worker claimed, until there are none: one `share`-th of them,
    /// rounded down, but at least 1 and at most `most`.
    pub(crate) fn claim_some(&self, share: usize, most: usize) -> Option<Range<usize>> {
        let some = |next: usize| {
            let left = self.count.checked_sub(next).filter(|&left| left > 0)?;
            Some(next + (left / share).clamp(1, most))
        };
        // Relaxed, as above.
        let first = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, some).ok()?;
        Some(first..some(first)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn several_at_once_are_fewer_towards_the_end() {
        let claimer = Claimer::new(23);
        let taken: Vec<Range<usize>> = std::iter::from_fn(|| claimer.claim_some(4, 3)).collect();
        assert_eq!(taken[..5], [0..3, 3..6, 6..9, 9..12, 12..14]);
        assert!(
            taken[5..].iter().all(|range| range.len() <= 2)
                && taken[taken.len() - 3..].iter().all(|last| last.len() == 1)
        );
        assert!(taken.into_iter().flatten().eq(0..23));
        assert_eq!((claimer.claim_some(1, 9), claimer.claim()), (None, None));
        assert_eq!(Claimer::new(0).claim_some(1, 1), None);
    }
}
