//! One thread's word in the protocol.

use crate::sync::{AtomicU32, Ordering};

/// The thread touches nothing of the heap but what a stop calls it for: it is parked, or in `blocking`.
const SAFE: u32 = 1;
/// A stop is under way: who is safe stays so, who is not is waited for.
const STOP: u32 = 2;
/// The thread waits for the end of the stop, and wants to be woken.
const WAITS: u32 = 4;
/// With `WAITS`: it was stopped in the midst of something.
const MIDST: u32 = 8;

/// What a thread does that waits for the end of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// It was stopped in the midst of something.
    InTheMidst,
    /// It came back from `blocking`.
    AfterBlocking,
}

/// Whether a thread runs, and whether it may.
///
/// `STOP` is set and cleared by a stopper that holds the lock, all else by the owner. What the owner wrote is visible to the
/// stopper that finds it safe (Release, Acquire), and the other way round when it leaves.
#[derive(Debug)]
pub(in crate::mutator) struct Status(AtomicU32);

impl Status {
    /// A thread that runs.
    pub(in crate::mutator) fn new() -> Status {
        Status(AtomicU32::new(0))
    }

    /// Becomes safe; `false`: a stop is under way, and has to be told.
    #[inline]
    pub(super) fn enter(&self) -> bool {
        self.0.compare_exchange(0, SAFE, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Runs again; `false`: it is held.
    #[inline]
    pub(super) fn leave(&self) -> bool {
        self.0.compare_exchange(SAFE, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As [`leave`](Self::leave), and `wait`s, which may return too early, until the end of a stop.
    pub(super) fn leave_after_stop(&self, waits: Waits, wait: impl Fn()) {
        let bits = if waits == Waits::InTheMidst { WAITS | MIDST } else { WAITS };
        while !self.leave() {
            if self.0.fetch_or(bits, Ordering::Relaxed) & STOP != 0 {
                wait();
            }
            self.0.fetch_and(!bits, Ordering::Relaxed);
        }
    }

    /// Becomes safe, whatever is under way. The owner, under the lock.
    pub(super) fn arrive(&self) {
        self.0.fetch_or(SAFE, Ordering::Release);
    }

    /// Asks for a stop; whether the thread has to be waited for. The stopper, under the lock.
    pub(super) fn request(&self) -> bool {
        self.0.fetch_or(STOP, Ordering::Acquire) & SAFE == 0
    }

    /// Ends the stop; whether the thread waits for it, and has to be woken. The stopper, under the lock.
    pub(super) fn resume(&self) -> Option<Waits> {
        let before = self.0.fetch_and(!STOP, Ordering::Release);
        (before & WAITS != 0).then_some(if before & MIDST != 0 {
            Waits::InTheMidst
        } else {
            Waits::AfterBlocking
        })
    }

    /// Whether a stop is under way that this thread is part of.
    pub(super) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) & STOP != 0
    }

    /// Whether a stop waits for this thread.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STOP
    }

    /// Whether the thread is parked or in `blocking`.
    pub(in crate::mutator) fn is_safe(&self) -> bool {
        self.0.load(Ordering::Relaxed) & SAFE != 0
    }
}
