//! The point where the threads of a shot begin together and end together.
//!
//! A thread's clock begins with its turn on a CPU. With many more threads than CPUs, most threads
//! would begin when others have ended. The mean of their times would be that of a thread that ran
//! alone. So each thread waits, while its clock runs, until all have begun, and then until all have
//! ended ([`Shot`]).
//!
//! A window of time that all threads share does not measure them either. Each thread reads its
//! clock when it has a turn. A thread whose turn begins after the window measures a single batch,
//! without a collection.
//!
//! Refused: `std::sync::Barrier`. It hangs if a thread never comes.

use crate::harness::{Play, SecondaryValue, Share, Worker};
use crate::hold::hold;
use std::sync::{Condvar, Mutex, PoisonError};

/// A meeting point of all threads, usable again and again.
#[derive(Debug)]
pub(super) struct Together {
    threads: usize,
    is_shot: bool,
    state: Mutex<State>,
    /// Notified when all threads have come, or one has left.
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Arrivals at all meetings.
    arrivals: usize,
    /// Whether a thread has left.
    left: bool,
}

impl Together {
    /// The meeting point of `threads` threads, which is used in shots alone.
    pub(super) fn new(threads: usize, is_shot: bool) -> Together {
        Together { threads, is_shot, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Plays a worker: in a shot together with the other threads.
    pub(super) fn play<W: Worker>(&self, worker: W, play: Play<'_>) -> anyhow::Result<()> {
        if self.is_shot { play.play(Shot { worker, member: Member(self) }) } else { play.play(worker) }
    }
}

/// One of the threads. No thread waits for a member that has been dropped.
#[derive(Debug)]
struct Member<'a>(&'a Together);

impl Member<'_> {
    /// Waits until all threads have come as often as this thread.
    fn meet(&self) {
        let Together { threads, changed, .. } = self.0;
        let mut state = hold(&self.0.state);
        state.arrivals += 1;
        let all = state.arrivals.next_multiple_of(*threads);
        if state.arrivals == all {
            changed.notify_all();
        }
        let missing = |state: &mut State| state.arrivals < all && !state.left;
        drop(changed.wait_while(state, missing).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for Member<'_> {
    fn drop(&mut self) {
        hold(&self.0.state).left = true;
        self.0.changed.notify_all();
    }
}

/// A worker whose batch is its part of a shot.
struct Shot<'a, W> {
    worker: W,
    member: Member<'a>,
}

impl<W: Worker> Shot<'_, W> {
    fn meet(&mut self) {
        let Shot { worker, member } = self;
        worker.idle(&mut || member.meet());
    }
}

impl<W: Worker> Worker for Shot<'_, W> {
    fn batch(&mut self) -> u64 {
        self.meet();
        let operations = self.worker.batch();
        self.meet();
        operations
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.worker.prepare()
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.worker.finish()
    }

    fn idle(&mut self, wait: &mut dyn FnMut()) {
        self.worker.idle(wait);
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        self.worker.metrics(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn nobody_goes_on_before_all_have_come() {
        const THREADS: usize = 5;
        let (together, come) = (Together::new(THREADS, true), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let member = Member(&together);
                    for meeting in 1..=30 {
                        come.fetch_add(1, Ordering::SeqCst);
                        member.meet();
                        assert!(come.load(Ordering::SeqCst) >= meeting * THREADS);
                    }
                });
            }
        });
    }

    #[test]
    fn all_are_at_work_when_one_begins_and_done_when_one_ends() {
        struct Counting<'a>(&'a AtomicUsize, &'a AtomicUsize);
        impl Worker for Counting<'_> {
            fn batch(&mut self) -> u64 {
                assert!(self.0.load(Ordering::SeqCst) >= 3, "all have come before one begins");
                self.1.fetch_add(1, Ordering::SeqCst);
                7
            }

            fn idle(&mut self, wait: &mut dyn FnMut()) {
                self.0.fetch_add(1, Ordering::SeqCst);
                wait();
            }
        }
        let together = Together::new(3, true);
        let (waited, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut shot = Shot { worker: Counting(&waited, &done), member: Member(&together) };
                    assert_eq!(shot.batch(), 7);
                    assert_eq!(done.load(Ordering::SeqCst), 3);
                });
            }
        });
        assert_eq!(waited.load(Ordering::SeqCst), 6);
    }

    #[test]
    fn a_thread_that_never_comes_is_not_waited_for() {
        let together = Together::new(2, true);
        thread::scope(|scope| {
            scope.spawn(|| Member(&together).meet());
            drop(Member(&together));
        });
    }
}
