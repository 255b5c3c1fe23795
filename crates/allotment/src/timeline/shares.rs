//! The shares of several workers in one task, as each worker noted its own.

use crate::platform::SystemThread;
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Instant;

/// The times of workers, each in a place of its own. Their caller hands them over when all have
/// finished, so no worker takes a lock.
pub(crate) struct Shares(Box<[OnceLock<Share>]>);

/// A worker's part of a task.
pub(super) struct Share {
    pub(super) thread: Thread,
    /// The kernel's number of the thread.
    pub(super) number: i32,
    pub(super) start: Instant,
    pub(super) end: Instant,
}

impl Shares {
    /// The shares of this many workers.
    pub(crate) fn of(workers: usize) -> Shares {
        Shares((0..workers).map(|_| OnceLock::new()).collect())
    }

    /// Does the work of one of them, on its thread.
    pub(crate) fn measure(&self, worker: usize, work: impl FnOnce()) {
        let start = Instant::now();
        work();
        let (thread, number, end) =
            (std::thread::current(), SystemThread::current().number(), Instant::now());
        let share = Share { thread, number, start, end };
        // Each worker has a number of its own.
        let _ = self.0[worker].set(share);
    }

    pub(super) fn into_iter(self) -> impl Iterator<Item = Share> {
        self.0.into_iter().filter_map(OnceLock::into_inner)
    }
}
