//! Where threads wait for each other after they have prepared, and leave together.
//!
//! In two steps. Preparing may take seconds (a heap is made, its pages touched by all cores), so
//! threads first sleep until all have arrived. They wake up some tens of microseconds apart; so
//! whoever is awake spins until all are. `std::sync::Barrier` was refused: it has only the first
//! step, and hangs when a thread never comes.

use crossbeam_utils::{Backoff, CachePadded};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A meeting that takes place once, or is called off.
#[derive(Debug, Default)]
pub(super) struct Meeting {
    /// Threads that have come. Also held while `called_off` changes, so that no sleeper misses it.
    arrived: Mutex<usize>,
    changed: Condvar,
    /// Threads that sleep no more. Written by each once.
    awake: CachePadded<AtomicUsize>,
    /// Set when a thread has failed, so that nobody waits for it.
    called_off: CachePadded<AtomicBool>,
}

impl Meeting {
    /// Waits until `threads` have come; false if the meeting is called off.
    pub(super) fn attend(&self, threads: usize) -> bool {
        let mut arrived = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
        *arrived += 1;
        if *arrived == threads {
            self.changed.notify_all();
        }
        let asleep = |arrived: &mut usize| *arrived < threads && !self.is_called_off();
        drop(self.changed.wait_while(arrived, asleep).unwrap_or_else(PoisonError::into_inner));
        self.awake.fetch_add(1, Ordering::AcqRel);
        let backoff = Backoff::new();
        while self.awake.load(Ordering::Acquire) < threads && !self.is_called_off() {
            // Spins first; yields later, as with more threads than CPUs it must.
            backoff.snooze();
        }
        !self.is_called_off()
    }

    /// Lets everybody go who has come or will come.
    pub(super) fn call_off(&self) {
        let held = self.arrived.lock().unwrap_or_else(PoisonError::into_inner);
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
        assert!(!meeting.attend(3), "whoever comes late is not held either");
    }
}
