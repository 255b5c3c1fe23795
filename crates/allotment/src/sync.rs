//! Atomics, locks and threads, from `std` or from the model checker.
//!
//! Every lock-free protocol of this crate names its primitives through this module, so that the code
//! that runs is the code that loom explores (`RUSTFLAGS="--cfg loom"`). The alternative, a model written
//! beside the code, was refused: it checks the model.

#[cfg(loom)]
pub(crate) mod deque;

/// Deques of which others steal, or, for the model checker, vectors with the same face: the library's are checked by
/// its own models.
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

/// In a model time passes when others run.
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

/// A wait for what another thread is about to do: first it spins, then it lets others run, in the end it sleeps.
///
/// The end comes late: of a sleep of 50 us on a virtual machine a thread is back after 110 to 170.
#[cfg(not(loom))]
pub(crate) struct Waiting {
    patience: crossbeam_utils::Backoff,
    /// When it began to let others run.
    since: Option<std::time::Instant>,
}

#[cfg(not(loom))]
impl Waiting {
    const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);
    /// What a sleep takes: then at most twice is lost of what would have been best.
    const AWAKE: std::time::Duration = std::time::Duration::from_micros(150);

    pub(crate) fn new() -> Waiting {
        Waiting { patience: crossbeam_utils::Backoff::new(), since: None }
    }

    /// Waits a little longer.
    pub(crate) fn longer(&mut self) {
        self.longer_or(|| std::thread::sleep(Waiting::SLEEP));
    }

    /// The same, but that it sleeps as `sleep` does.
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

/// The same, in a model: another thread runs.
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

    /// In a model nobody sleeps.
    pub(crate) fn longer_or(&mut self, _sleep: impl FnOnce()) {
        yield_now();
    }
}
