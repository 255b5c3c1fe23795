//! Regions on their way from one set to another.
//!
//! A region that a thread has taken and not yet put where others look is in no set, and neither is a
//! run that a humongous claim gives back because it lost one region of it. Who looks everywhere in that
//! moment sees a full heap, and would report out of memory with half of the heap about to be free. So
//! whoever carries a region that others will have a claim to says so, and whoever found nothing looks
//! again if anybody carried one meanwhile: a failure is the truth about one moment. Not where a heap is full only as far as its
//! collector lets it be: what follows there is a larger eden or a collection, and to wait for a thread that lost its CPU in the
//! midst of a move took 354 of 500 threads that began together 1 to 4 ms.
//!
//! The equations of a sequence lock, with many writers: the reader compares the number of finished
//! moves before and after, and wants no move under way at the end. Refused: a lock around each move; a
//! move commits memory, which takes as long as filling a region's pages with zeroes. The price here is
//! two locked operations on a shared line for each region, none for a buffer.

use crate::sync::{AtomicU64, Ordering, fence, yield_now};

/// One finished move.
const FINISHED: u64 = 1 << 32;

/// Moves under way and finished.
#[derive(Default)]
pub(super) struct Transit {
    /// Moves under way in the low half, those that moved something and ended (modulo 2^32) in the high
    /// half. Written by who moves, at both ends.
    moves: AtomicU64,
}

/// A move under way; dropped without [`finish`](Moving::finish) it moved nothing.
pub(super) struct Moving<'a> {
    transit: &'a Transit,
    moved: bool,
}

impl Transit {
    /// Announces a move, before the region is taken out of its set.
    pub(super) fn begin(&self) -> Moving<'_> {
        self.moves.fetch_add(1, Ordering::Relaxed);
        // Who sees the region gone sees the move announced.
        fence(Ordering::Release);
        Moving { transit: self, moved: false }
    }

    /// Whether no move is under way.
    pub(super) fn is_at_rest(&self) -> bool {
        self.moves.load(Ordering::Acquire).is_multiple_of(FINISHED)
    }

    /// How it stands, before looking into the sets; for [`settled_since`](Self::settled_since).
    pub(super) fn look(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    /// Whether what was found since `look` is the truth: nothing was moved, and nothing is on its way.
    /// If not, waits a little.
    pub(super) fn settled_since(&self, look: u64) -> bool {
        fence(Ordering::Acquire);
        let now = self.moves.load(Ordering::Relaxed);
        let settled = now.is_multiple_of(FINISHED) && now / FINISHED == look / FINISHED;
        if !settled {
            yield_now();
        }
        settled
    }

    /// Repeats `attempt` until it succeeds, or fails while nothing was moved, or while `may_fail` says that the truth is not wanted. An
    /// attempt that moves something itself and fails is repeated.
    pub(super) fn until_settled<T>(
        &self,
        mut attempt: impl FnMut() -> Option<T>,
        may_fail: impl Fn() -> bool,
    ) -> Option<T> {
        loop {
            let look = self.look();
            let outcome = attempt();
            if outcome.is_some() || may_fail() || self.settled_since(look) {
                return outcome;
            }
        }
    }
}

impl Moving<'_> {
    /// Ends the move: what was taken is where others find it.
    pub(super) fn finish(mut self) {
        self.moved = true;
    }
}

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        let change = if self.moved { FINISHED - 1 } else { 1_u64.wrapping_neg() };
        self.transit.moves.fetch_add(change, Ordering::Release);
    }
}
