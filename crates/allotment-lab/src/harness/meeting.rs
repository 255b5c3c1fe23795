//! A meeting at which threads wait for each other after they have prepared, and leave together.
//!
//! It has two steps. Preparing may take seconds (a heap is made, and all cores touch its pages), so
//! threads first sleep until all have arrived. They wake up some tens of microseconds apart, so they
//! then spin until all are awake. Refused: `std::sync::Barrier`. It has only the first step, and
//! hangs if a thread never comes.

use crate::hold::hold;
use crossbeam_utils::{Backoff, CachePadded};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A meeting that takes place once, or is called off.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Threads that have come. The lock is held while `called_off` changes, so that no sleeper misses
    /// the change.
    arrived: Mutex<usize>,
    changed: Condvar,
    /// Threads that have woken up. Each writes it once.
    awake: CachePadded<AtomicUsize>,
    /// Set when a thread has failed, so that no other waits for it.
    called_off: CachePadded<AtomicBool>,
}

impl Meeting {
    /// Waits until `threads` have come; false if the meeting is called off.
    pub(super) fn attend(&self, threads: usize) -> bool {
        let mut arrived = hold(&self.arrived);
        *arrived += 1;
        if *arrived == threads {
            self.changed.notify_all();
        }
        let asleep = |arrived: &mut usize| *arrived < threads && !self.is_called_off();
        drop(self.changed.wait_while(arrived, asleep).unwrap_or_else(PoisonError::into_inner));
        self.awake.fetch_add(1, Ordering::AcqRel);
        let backoff = Backoff::new();
        while self.awake.load(Ordering::Acquire) < threads && !self.is_called_off() {
            // Spins first and yields later, which is necessary with more threads than CPUs.
            backoff.snooze();
        }
        !self.is_called_off()
    }

    /// Ends the waiting of all threads, now and later.
    pub(super) fn call_off(&self) {
        let held = hold(&self.arrived);
        self.called_off.store(true, Ordering::Release);
        drop(held);
        self.changed.notify_all();
    }

    fn is_called_off(&self) -> bool {
        self.called_off.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn nobody_leaves_before_all_have_come() {
        const THREADS: usize = 5;
        let meetings: [Meeting; 30] = Default::default();
        let come = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for (index, meeting) in meetings.iter().enumerate() {
                        come.fetch_add(1, Ordering::SeqCst);
                        assert!(meeting.attend(THREADS));
                        assert!(come.load(Ordering::SeqCst) >= (index + 1) * THREADS);
                    }
                });
            }
        });
    }

    #[test]
    fn a_meeting_called_off_holds_nobody() {
        let meeting = Meeting::default();
        thread::scope(|scope| {
            let early: Vec<_> = (0..2).map(|_| scope.spawn(|| meeting.attend(3))).collect();
            meeting.call_off();
            for thread in early {
                assert!(!thread.join().unwrap());
            }
        });
        assert!(!meeting.attend(3), "a late thread does not wait either");
    }
}
