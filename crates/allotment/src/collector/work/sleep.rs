//! The sleep of workers that find no work.
//!
//! A worker that checked every 50 us while another one follows a list would take a tenth of all
//! time: each wake-up goes through the kernel, and on a virtual machine through the host. So a
//! worker that offers an entry wakes a sleeping one, and the last worker to idle wakes all others.
//! A sleeping worker also wakes by itself, at ever longer intervals; no other code depends on that.
//!
//! Refused: a condition variable, because every worker that offers an entry would take its lock.
//! Here it reads a number.

use crate::sync::{AtomicUsize, Mutex, Ordering, POISONED, Thread, current, fence, park_timeout};
use std::collections::TryReserveError;
use std::time::Duration;

/// Time after which a worker first checks again; each later wait is twice as long.
const FIRST: Duration = Duration::from_millis(1);

/// The longest such wait.
const LONGEST: Duration = Duration::from_millis(64);

/// Workers that sleep.
pub(super) struct Sleepers {
    threads: Mutex<Vec<Thread>>,
    /// Number of sleeping workers. Written under the lock. A worker that goes to sleep writes it,
    /// fences and checks for work. A worker that offers work does that, fences and reads this
    /// number.
    count: AtomicUsize,
}

/// The sleep of one worker.
pub(super) struct Sleep<'s> {
    sleepers: &'s Sleepers,
    next: Duration,
}

impl Sleepers {
    /// Sleepers with room for this many workers.
    pub(super) fn for_workers(workers: usize) -> Result<Sleepers, TryReserveError> {
        let mut threads = Vec::new();
        threads.try_reserve_exact(workers)?;
        Ok(Sleepers { threads: Mutex::new(threads), count: AtomicUsize::new(0) })
    }

    /// Begins the sleep of a worker that finds nothing.
    pub(super) fn begin(&self) -> Sleep<'_> {
        Sleep { sleepers: self, next: FIRST }
    }

    /// Wakes up to `most` workers. The caller has published their work before.
    pub(super) fn wake(&self, most: usize) {
        fence(Ordering::SeqCst);
        for _ in 0..most {
            if self.count.load(Ordering::Relaxed) == 0 {
                return;
            }
            let thread = self.change(Vec::pop);
            thread.iter().for_each(Thread::unpark);
        }
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Thread>) -> R) -> R {
        let mut threads = self.threads.lock().expect(POISONED);
        let outcome = change(&mut threads);
        self.count.store(threads.len(), Ordering::Relaxed);
        outcome
    }
}

impl Sleep<'_> {
    /// Sleeps until it is woken, or some time has passed. Does not sleep if `is_up` says that there
    /// is work.
    pub(super) fn unless(&mut self, is_up: impl Fn() -> bool) {
        let own = current();
        self.sleepers.change(|threads| threads.push(own.clone()));
        fence(Ordering::SeqCst);
        if !is_up() {
            park_timeout(self.next);
        }
        self.next = (self.next * 2).min(LONGEST);
        // Does nothing if the thread was woken.
        self.sleepers.change(|threads| threads.retain(|thread| thread.id() != own.id()));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn sleeping_workers_are_woken() {
        let (sleepers, up) = (Sleepers::for_workers(2).unwrap(), AtomicBool::new(false));
        sleepers.wake(usize::MAX);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut sleep = sleepers.begin();
                    while !up.load(Ordering::Relaxed) {
                        sleep.unless(|| up.load(Ordering::Relaxed));
                    }
                });
            }
            while sleepers.count.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            up.store(true, Ordering::Relaxed);
            sleepers.wake(usize::MAX);
        });
        assert_eq!(sleepers.count.load(Ordering::Relaxed), 0);
        assert!(sleepers.threads.lock().unwrap().is_empty());
    }

    #[test]
    fn it_sleeps_longer_each_time_and_not_if_it_is_up() {
        let sleepers = Sleepers::for_workers(1).unwrap();
        let mut sleep = sleepers.begin();
        for _ in 0..10 {
            sleep.unless(|| true);
        }
        assert_eq!(sleep.next, LONGEST);
    }
}
