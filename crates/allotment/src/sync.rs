//! Atomics, locks and threads, from `std` or from the model checker.
//!
//! Every lock-free protocol of this crate takes its primitives from this module. So loom explores
//! the code that runs (`RUSTFLAGS="--cfg loom"`).
//!
//! Refused: a model written beside the code. Such a test checks the model, not the code.

/// The message of a lock that is poisoned. It never shows: code that may panic under a lock aborts
/// instead, or unlocks first.
pub(crate) const POISONED: &str = "nothing panics while it is locked";

#[cfg(loom)]
pub(crate) mod deque;

/// Deques from which other threads steal. The model checker gets vectors with this interface: the
/// deque library has its own models.
#[cfg(not(loom))]
pub(crate) mod deque {
    pub(crate) use crossbeam_deque::{Steal, Stealer, Worker};
}

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::{Builder, JoinHandle, Thread, ThreadId, current, park, park_timeout, yield_now},
};

/// In a model time passes when other threads run.
#[cfg(loom)]
pub(crate) fn park_timeout(_time: std::time::Duration) {
    yield_now();
}

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::{Builder, JoinHandle, Thread, ThreadId, current, park, yield_now},
};

/// A wait for an event that another thread is about to cause. The waiting thread first spins, then
/// yields to other threads, and finally sleeps.
///
/// It sleeps late: on a virtual machine a thread returns from a sleep of 50 us after 110 to 170 us.
#[cfg(not(loom))]
pub(crate) struct Waiting {
    patience: crossbeam_utils::Backoff,
    /// The time of the first yield.
    since: Option<std::time::Instant>,
}

#[cfg(not(loom))]
impl Waiting {
    const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);
    /// The cost of a sleep. A wait of this length before the sleep costs at most twice the best
    /// possible time.
    const AWAKE: std::time::Duration = std::time::Duration::from_micros(150);

    pub(crate) fn new() -> Waiting {
        Waiting { patience: crossbeam_utils::Backoff::new(), since: None }
    }

    /// Waits a little longer.
    pub(crate) fn longer(&mut self) {
        self.longer_or(|| std::thread::sleep(Waiting::SLEEP));
    }

    /// As [`longer`](Self::longer), but sleeps by calling `sleep`.
    pub(crate) fn longer_or(&mut self, sleep: impl FnOnce()) {
        if !self.patience.is_completed() {
            return self.patience.snooze();
        }
        if self.since.get_or_insert_with(std::time::Instant::now).elapsed() < Waiting::AWAKE {
            yield_now();
        } else {
            sleep();
        }
    }
}

/// A wait in a model: another thread runs.
#[cfg(loom)]
pub(crate) struct Waiting;

#[cfg(loom)]
impl Waiting {
    pub(crate) fn new() -> Waiting {
        Waiting
    }

    pub(crate) fn longer(&mut self) {
        yield_now();
    }

    /// In a model no thread sleeps.
    pub(crate) fn longer_or(&mut self, _sleep: impl FnOnce()) {
        yield_now();
    }
}
