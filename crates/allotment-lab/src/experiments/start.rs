//! The instant that all threads wait for.
//!
//! The threads sleep on one condition variable, which one system call wakes. Threads that are woken
//! one by one would begin one by one.
//!
//! Refused: a barrier. The last thread would have to arrive, and a thread that fails on its way
//! never does.

use crate::hold::hold;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The point where threads wait for the instant, and where the controller waits for the threads.
#[derive(Debug, Default)]
pub(super) struct Start {
    state: Mutex<State>,
    /// Notified when the instant has come. It is not used for progress, since each arriving thread
    /// would wake all that wait.
    given: Condvar,
    /// Notified when a thread waits or is done. One thread waits for it.
    progress: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Threads that wait or have waited.
    ready: usize,
    /// Threads that are done, successfully or not.
    over: usize,
    given: Given,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Given {
    #[default]
    Nothing,
    Begin(Instant),
    /// The shot is called off.
    Off,
}

impl Start {
    /// Waits for the instant; returns `None` if the shot is called off.
    pub(super) fn wait(&self) -> Option<Instant> {
        let mut state = hold(&self.state);
        state.ready += 1;
        self.progress.notify_one();
        let nothing = |state: &mut State| state.given == Given::Nothing;
        match self.given.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner).given {
            Given::Begin(instant) => Some(instant),
            Given::Nothing | Given::Off => None,
        }
    }

    /// Records that the calling thread is done.
    pub(super) fn leave(&self) {
        hold(&self.state).over += 1;
        self.progress.notify_one();
    }

    /// Waits until each of `threads` threads waits, or is done without having waited.
    pub(super) fn wait_until_ready(&self, threads: usize) {
        let missing = |state: &mut State| state.ready + state.over < threads;
        drop(self.progress.wait_while(hold(&self.state), missing));
    }

    /// Waits until `threads` threads are done.
    pub(super) fn wait_until_over(&self, threads: usize) {
        drop(self.progress.wait_while(hold(&self.state), |state| state.over < threads));
    }

    /// Waits until `threads` threads are done, for `most` at most. Returns whether they are.
    pub(super) fn wait_until_over_for(&self, threads: usize, most: Duration) -> bool {
        let waiting = self.progress.wait_timeout_while(hold(&self.state), most, |state| state.over < threads);
        !waiting.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Begins now.
    pub(super) fn begin(&self) {
        self.give(Given::Begin(Instant::now()));
    }

    /// Calls the shot off, and releases the threads that still wait.
    pub(super) fn call_off(&self) {
        self.give(Given::Off);
    }

    /// The first call decides; later calls have no effect.
    fn give(&self, given: Given) {
        let mut state = hold(&self.state);
        if state.given == Given::Nothing {
            state.given = given;
        }
        drop(state);
        self.given.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn all_begin_at_the_same_instant_and_nobody_waits_for_who_failed() {
        let start = Start::default();
        let instants = thread::scope(|scope| {
            let waiting: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let instant = start.wait();
                        start.leave();
                        instant
                    })
                })
                .collect();
            scope.spawn(|| start.leave());
            start.wait_until_ready(4);
            start.begin();
            start.wait_until_over(4);
            assert!(
                start.wait_until_over_for(4, Duration::ZERO) && !start.wait_until_over_for(5, Duration::ZERO)
            );
            waiting.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(instants[0].is_some() && instants.iter().all(|instant| *instant == instants[0]));
    }

    #[test]
    fn who_waits_for_nothing_is_sent_home() {
        let start = Start::default();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| start.wait());
            start.wait_until_ready(1);
            start.call_off();
            start.begin();
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
