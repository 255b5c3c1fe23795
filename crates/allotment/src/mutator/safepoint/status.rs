//! One thread's word in the protocol.

use crate::sync::{AtomicU32, Ordering};

/// The thread is parked or in `blocking`. It touches nothing of the heap except the work that a
/// stop calls it for.
const SAFE: u32 = 1;
/// A stop is under way: a safe thread stays safe, any other thread is awaited.
const STOP: u32 = 2;
/// The thread waits for the end of the stop, and wants to be woken.
const WAITS: u32 = 4;
/// With `WAITS`: the thread was stopped in the midst of its work.
const MIDST: u32 = 8;

/// What a thread was doing that waits for the end of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// The thread was stopped in the midst of its work.
    InTheMidst,
    /// The thread came back from `blocking`.
    AfterBlocking,
}

/// Whether a thread runs, and whether it may run.
///
/// A stopper that holds the lock sets and clears `STOP`; the owner does all else. The owner's
/// writes are visible to a stopper that finds the thread safe (Release, Acquire). The stopper's
/// writes are visible to the owner when it leaves.
#[derive(Debug)]
pub(in crate::mutator) struct Status(AtomicU32);

impl Status {
    /// A thread that runs.
    pub(in crate::mutator) fn new() -> Status {
        Status(AtomicU32::new(0))
    }

    /// Becomes safe. `false`: a stop is under way, and has to be told of the arrival.
    #[inline]
    pub(super) fn enter(&self) -> bool {
        self.0.compare_exchange(0, SAFE, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Runs again. `false`: a stop holds the thread.
    #[inline]
    pub(super) fn leave(&self) -> bool {
        self.0.compare_exchange(SAFE, 0, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// As [`leave`](Self::leave), but waits for the end of a stop by calling `wait`, which may
    /// return too early.
    pub(super) fn leave_after_stop(&self, waits: Waits, wait: impl Fn()) {
        let bits = if waits == Waits::InTheMidst { WAITS | MIDST } else { WAITS };
        while !self.leave() {
            if self.0.fetch_or(bits, Ordering::Relaxed) & STOP != 0 {
                wait();
            }
            self.0.fetch_and(!bits, Ordering::Relaxed);
        }
    }

    /// Becomes safe, even during a stop. Called by the owner, under the lock.
    pub(super) fn arrive(&self) {
        self.0.fetch_or(SAFE, Ordering::Release);
    }

    /// Asks for a stop. Returns whether the thread has to be awaited. Called by the stopper, under
    /// the lock.
    pub(super) fn request(&self) -> bool {
        self.0.fetch_or(STOP, Ordering::Acquire) & SAFE == 0
    }

    /// Ends the stop. Returns whether the thread waits for that end and has to be woken. Called by
    /// the stopper, under the lock.
    pub(super) fn resume(&self) -> Option<Waits> {
        let before = self.0.fetch_and(!STOP, Ordering::Release);
        (before & WAITS != 0).then_some(if before & MIDST != 0 {
            Waits::InTheMidst
        } else {
            Waits::AfterBlocking
        })
    }

    /// Whether a stop is under way that includes this thread.
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
