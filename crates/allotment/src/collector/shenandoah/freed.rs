//! What cycles have freed, for threads that wait for memory.
//!
//! A cycle frees regions without live objects as soon as marking has ended, and the rest at its
//! end. It notes both and wakes the threads that wait.
//!
//! ```text
//! a thread   reads the counts -> tries to allocate -> waits while the counts are the same
//! a cycle    frees regions    -> counts, and wakes
//! ```
//!
//! The thread reads before it tries. So the memory that a cycle frees after the attempt ends the
//! wait.
//!
//! A thread may wait in vain, in a heap that is full of live objects. So after some waits in vain
//! in a row, fewer threads wait: after `n` of them, the next `2^n - 1` threads do not.

use crate::sync::{Condvar, Mutex, MutexGuard, POISONED};
use std::time::{Duration, Instant};

/// The time that a thread may wait at least. Only a control thread that does not get on makes a
/// thread wait so long: its work may depend on the waiting thread, by a lock of the embedder's.
const LEAST_BOUND: Duration = Duration::from_secs(1);

/// Otherwise a thread may wait for the time of this many cycles, each as long as the last one.
const CYCLES: u32 = 4;

/// The most waits in vain that count.
const MOST_IN_VAIN: u32 = 4;

/// The counts, and how to wait for a change of them.
#[derive(Default)]
pub(super) struct Freed {
    inner: Mutex<Inner>,
    changed: Condvar,
}

/// The counts of a heap's cycles. A cycle in a stop counts, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FreedCounts {
    /// Cycles that have taken their snapshot.
    pub(super) snapshots: u64,
    /// The number of the snapshot whose cycle was the last to free all that it could.
    pub(super) swept: u64,
    /// How often cycles have freed memory.
    times: u64,
}

#[derive(Default)]
struct Inner {
    counts: FreedCounts,
    /// When the last snapshot was taken.
    snapshot: Option<Instant>,
    /// The time from the snapshot to the end, for the last cycle that has ended.
    last: Duration,
    patience: Patience,
}

impl Freed {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect(POISONED)
    }

    /// In a child of `fork()`: whether no thread holds the lock.
    pub(super) fn is_at_rest(&self) -> bool {
        self.inner.try_lock().is_ok()
    }

    /// Notes that a cycle takes its snapshot.
    pub(super) fn took_snapshot(&self) {
        let mut inner = self.lock();
        inner.counts.snapshots += 1;
        inner.snapshot = Some(Instant::now());
    }

    /// Notes that the cycle has freed memory. `all`: it has freed all that it could.
    pub(super) fn freed(&self, all: bool) {
        let mut inner = self.lock();
        inner.counts.times += 1;
        if all {
            inner.counts.swept = inner.counts.snapshots;
            inner.last = inner.snapshot.take().map_or(inner.last, |snapshot| snapshot.elapsed());
        }
        drop(inner);
        self.changed.notify_all();
    }

    pub(super) fn counts(&self) -> FreedCounts {
        self.lock().counts
    }

    /// Waits until a cycle has freed memory since the counts were `seen`, or for the time `most`.
    /// Returns whether one has. It may return before either.
    pub(super) fn wait(&self, seen: FreedCounts, most: Duration) -> bool {
        let mut inner = self.lock();
        if inner.counts.times == seen.times {
            inner = self.changed.wait_timeout(inner, most).expect(POISONED).0;
        }
        inner.counts.times != seen.times
    }

    /// Whether a thread may wait, and the most time for that. The caller tells the
    /// [end](Self::end_wait) of the wait.
    pub(super) fn begin_wait(&self) -> Option<Duration> {
        let mut inner = self.lock();
        inner.patience.may_wait().then(|| LEAST_BOUND.max(inner.last * CYCLES))
    }

    /// Notes that a wait has ended, and whether the thread found memory.
    pub(super) fn end_wait(&self, found: bool) {
        self.lock().patience.ended(found);
    }
}

/// Which threads may wait.
#[derive(Debug, Default)]
struct Patience {
    /// Waits in vain since the last wait that was not.
    in_vain: u32,
    /// The next threads that do not wait.
    skips: u32,
}

impl Patience {
    fn may_wait(&mut self) -> bool {
        let waits = self.skips == 0;
        self.skips = self.skips.saturating_sub(1);
        waits
    }

    fn ended(&mut self, found: bool) {
        self.in_vain = if found { 0 } else { (self.in_vain + 1).min(MOST_IN_VAIN) };
        self.skips = (1 << self.in_vain) - 1;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_counts_tell_the_snapshot_whose_garbage_is_free() {
        let freed = Freed::default();
        let before = freed.counts();
        assert_eq!((before.snapshots, before.swept), (0, 0));
        freed.took_snapshot();
        freed.freed(false);
        let marked = freed.counts();
        assert_eq!((marked.snapshots, marked.swept), (1, 0));
        freed.freed(true);
        assert_eq!(freed.counts().swept, 1);
        // A stop gives the second cycle up.
        freed.took_snapshot();
        freed.took_snapshot();
        assert_eq!(freed.counts().swept, 1);
        freed.freed(true);
        assert_eq!((freed.counts().snapshots, freed.counts().swept), (3, 3));
    }

    #[test]
    fn a_wait_ends_when_memory_is_freed_or_was_since_the_look() {
        let freed = Freed::default();
        let long = Duration::from_secs(1000);
        let seen = freed.counts();
        freed.freed(false);
        assert!(freed.wait(seen, long));
        let seen = freed.counts();
        std::thread::scope(|scope| {
            scope.spawn(|| freed.freed(true));
            while !freed.wait(seen, long) {}
        });
        assert!(!freed.wait(freed.counts(), Duration::ZERO));
    }

    #[test]
    fn a_bound_follows_the_last_cycle() {
        let freed = Freed::default();
        assert_eq!(freed.begin_wait(), Some(LEAST_BOUND));
        freed.lock().last = LEAST_BOUND;
        assert_eq!(freed.begin_wait(), Some(CYCLES * LEAST_BOUND));
    }

    #[test]
    fn after_waits_in_vain_fewer_threads_wait() {
        let mut patience = Patience::default();
        let mut skipped = |found| {
            let skipped = (0..).take_while(|_| !patience.may_wait()).count();
            patience.ended(found);
            skipped
        };
        let expected = [0, 1, 3, 7, 15, 15];
        assert_eq!(expected.map(|_| skipped(false)), expected);
        assert_eq!((skipped(true), skipped(true), skipped(false), skipped(false)), (15, 0, 0, 1));
    }
}
