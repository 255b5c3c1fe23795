//! A heap in a child of `fork()`.
//!
//! A child has a copy of the heap, but only one of its threads: the thread that forked. Each slow
//! path checks one word ([`ProcessMark`](crate::platform::ProcessMark)) that says whether the
//! process is still the one that the heap knows. In a new process the first slow path finds out in
//! which state the other threads left the heap:
//!
//! ```text
//! empty --first slow path--> finding out --nothing of theirs was under way--> here
//!                               |   '------something was--> unusable: why
//!                               '--the thread is not the one that forked--> empty
//! ```
//!
//! The heap works if every other thread was in `blocking` or detached, and no thread held a lock.
//! Then the heap forgets the other threads with the roots in their frames, and gives up their
//! buffers. Collections start threads of their own. Otherwise the heap cannot be used: a thread
//! that ran leaves half-made objects, and a held lock is never released. Functions that return a
//! `Result` then return an error. Other functions print a line and end the process. A destructor of
//! a part of the heap does neither: it leaves the part as it is.
//!
//! Only the thread that forked can find this out: only that thread knows which of the attached
//! threads it is itself.
//!
//! Refused:
//! - A handler of `pthread_atfork`. `platform/process_mark.rs` gives the reasons.
//! - To hold all locks over a fork. That needs such a handler.

use super::attachment::own_state;
use super::registry::Attached;
use super::shared::Shared;
use super::state::State;
use super::stopping::is_stopping_that;
use crate::mutator::ForkError;
use crate::mutator::safepoint::renew_system_id;
use crate::platform::{abort_because, is_first_thread};
use crate::sync::yield_now;
use std::ptr::NonNull;

/// The value of a heap's word in a process in which the heap can be used.
pub(crate) const HERE: u32 = 1;
/// The value while a thread is finding out.
const FINDING_OUT: u32 = 2;

/// The values of the word where the heap cannot be used.
const UNUSABLE: [(u32, ForkError); 3] =
    [(3, ForkError::ThreadRan), (4, ForkError::WorldStopped), (5, ForkError::Locked)];

impl Shared {
    /// Whether the heap can be used in this process. Every function that takes a lock of the heap,
    /// waits for a thread or wakes a thread asks this first.
    #[inline]
    pub(crate) fn after_fork(&self) -> Result<(), ForkError> {
        if self.process.load() == HERE { Ok(()) } else { self.find_out() }
    }

    /// Ends the process if the heap cannot be used in it. For functions without an error to return.
    #[inline]
    pub(crate) fn after_fork_or_abort(&self) {
        if self.process.load() != HERE {
            self.find_out_or_abort();
        }
    }

    #[cold]
    #[inline(never)]
    fn find_out_or_abort(&self) {
        if let Err(error) = self.find_out() {
            abort_because(format_args!("{error}"));
        }
    }

    #[cold]
    #[inline(never)]
    fn find_out(&self) -> Result<(), ForkError> {
        loop {
            match self.process.load() {
                HERE => return Ok(()),
                0 if self.process.store_first(FINDING_OUT) => break,
                // Another thread of this process is finding out.
                0 | FINDING_OUT => yield_now(),
                number => {
                    let why = UNUSABLE.iter().find(|(unusable, _)| *unusable == number);
                    return Err(why.map_or(ForkError::Locked, |(_, why)| *why));
                }
            }
        }
        let outcome = self.take_over();
        let number = match outcome {
            Ok(()) => HERE,
            Err(why) => UNUSABLE.iter().find(|(_, error)| *error == why).map_or(0, |(number, _)| *number),
        };
        self.process.store(number);
        if outcome.is_ok() {
            self.collector.heap_is_taken_over();
        }
        outcome
    }

    /// Forgets the threads that are not in this process, if they left the heap in a consistent
    /// state.
    fn take_over(&self) -> Result<(), ForkError> {
        if !is_first_thread() && self.threads.registry.count() > 0 {
            return Err(ForkError::NotYet);
        }
        let own = own_state(self).map(Attached::from);
        let stopping = is_stopping_that(&self.threads.registry);
        let mut others = Vec::new();
        let threads = &self.threads.registry.threads;
        threads.others_at_rest(own.as_ref(), stopping, |other| others.push(other.0))?;
        // SAFETY: the threads were safe when the process was forked, so their states are in order.
        let lists_at_rest = others.iter().all(|state| unsafe { state.as_ref() }.visited.try_lock().is_ok());
        // A thread that stops the world holds the `regions` lock itself.
        let at_rest = (stopping || self.space.try_lock_regions().is_some())
            && lists_at_rest
            && self.threads.satb.is_at_rest()
            && self.threads.roots.is_at_rest()
            && self.watch.sampler.is_at_rest()
            && self.space.free.is_at_rest()
            && self.collector.is_at_rest();
        if !at_rest {
            return Err(ForkError::Locked);
        }
        renew_system_id();
        self.collector.forget_threads();
        others.into_iter().for_each(|state| self.forget(state));
        Ok(())
    }

    /// Releases what a thread that is not in this process had.
    fn forget(&self, state: NonNull<State>) {
        // SAFETY: the thread was safe when the process was forked, so the state was in order. No
        // thread frees the state: its owner is not in this process, and its memory is given up with
        // it.
        let state = unsafe { state.as_ref() };
        // A collector's cycle may be under way: no memory goes back below its borders.
        state.retire_buffer(false);
        state.let_lapse();
        state.leave();
        self.threads.registry.forget(state);
    }
}

/// A child may drop a heap that it never used. The collector must not wait for its threads, which
/// are not in this process.
impl Drop for Shared {
    fn drop(&mut self) {
        if self.process.load() != HERE {
            self.collector.forget_threads();
        }
    }
}
