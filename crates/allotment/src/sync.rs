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
    thread::{Builder, JoinHandle, Thread, ThreadId, current, park, yield_now},
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::{Builder, JoinHandle, Thread, ThreadId, current, park, yield_now},
};

/// Waits for what another thread is about to do: first it spins, then it lets others run, in the end it sleeps.
#[cfg(not(loom))]
pub(crate) fn wait_longer(patience: &crossbeam_utils::Backoff) {
    if patience.is_completed() {
        std::thread::sleep(std::time::Duration::from_micros(50));
    } else {
        patience.snooze();
    }
}

/// The same, in a model: another thread runs.
#[cfg(loom)]
pub(crate) fn wait_longer(_: &crossbeam_utils::Backoff) {
    yield_now();
}
