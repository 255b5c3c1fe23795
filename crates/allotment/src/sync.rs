//! Atomics, locks and threads, from `std` or from the model checker.
//!
//! Every lock-free protocol of this crate names its primitives through this module, so that the code
//! that runs is the code that loom explores (`RUSTFLAGS="--cfg loom"`). The alternative, a model written
//! beside the code, was refused: it checks the model.

#[cfg(not(loom))]
pub(crate) use std::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::{Thread, ThreadId, current, park, yield_now},
};

#[cfg(loom)]
pub(crate) use loom::{
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread::{Thread, ThreadId, current, park, yield_now},
};
