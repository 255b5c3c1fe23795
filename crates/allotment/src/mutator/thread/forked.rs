//! A heap in a child of `fork()`.
//!
//! A child has a copy of the heap, and of all threads only the one that forked. The slow paths ask
//! one word ([`ProcessMark`](crate::platform::ProcessMark)) whether this is still the process that
//! they know. If not, the first one finds out what the others left:
//!
//! ```text
//! empty --first slow path--> finding out --nothing of theirs was under way--> here
//!                               |   '------something was--> unusable: why
//!                               '--the thread is not the one that forked--> empty
//! ```
//!
//! Where all other threads were in `blocking`, or detached, and nobody held a lock, the heap works:
//! the other threads are forgotten with the roots in their frames, their buffers are given up, and
//! collections start threads of their own. Else the heap cannot be used: a thread that ran leaves
//! objects half made, a lock that is held is held for ever. Then functions that return a `Result`
//! say so, the others end the process with a line. What drops a part of the heap does neither: it
//! leaves the part.
//!
//! Only the thread that forked can find out: it knows which of the attached threads it is itself.
//! Refused: to find out in a handler of `pthread_atfork` (`platform/process_mark.rs` says why), and
//! to hold all locks over a fork, which needs such a handler.

use super::registry::own_state;
use super::shared::Shared;
use super::state::State;
use super::stopping::is_stopping_that;
use crate::mutator::Mutator;
use crate::mutator::safepoint::{Unrest, renew_system_id};
use crate::platform::{abort_because, is_first_thread};
use crate::sync::yield_now;
use std::ptr::NonNull;

/// What the word of a heap holds in a process in which the heap can be used.
pub(crate) const HERE: u32 = 1;
/// A thread is finding out.
const FINDING_OUT: u32 = 2;

/// Why a heap cannot be used in a child of `fork()`; [`Heap`](crate::Heap) says what can.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// Another thread was attached and ran: its objects may be half made.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread was attached and not in \
         `Mutator::blocking`; fork while all others are in `blocking` or detached"
    )]
    ThreadRan,
    /// Another thread was stopping the world: a collection was under way, say.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread was stopping the world; fork while no \
         other thread uses the heap"
    )]
    WorldStopped,
    /// Another thread held a lock of the heap's, which nobody can give back.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread held one of its locks; fork while no \
         other thread uses the heap"
    )]
    Locked,
    /// Other threads were attached at the fork, and the thread that forked did not use the heap
    /// yet. This may change.
    #[error(
        "this heap cannot be used yet on this thread of a child process: the thread that forked must attach, or use its \
         mutator, first"
    )]
    NotYet,
}
crate::debug::debug_is_display!(ForkError);

/// What the word holds where the heap cannot be used.
const UNUSABLE: [(u32, ForkError); 3] =
    [(3, ForkError::ThreadRan), (4, ForkError::WorldStopped), (5, ForkError::Locked)];

impl From<Unrest> for ForkError {
    fn from(unrest: Unrest) -> ForkError {
        match unrest {
            Unrest::Locked => ForkError::Locked,
            Unrest::Stopping => ForkError::WorldStopped,
            Unrest::Running => ForkError::ThreadRan,
        }
    }
}

impl Shared {
    /// Whether the heap can be used in this process: asked by whatever takes a lock of the heap's,
    /// waits for a thread or wakes one.
    #[inline]
    pub(crate) fn after_fork(&self) -> Result<(), ForkError> {
        if self.process.load() == HERE { Ok(()) } else { self.find_out() }
    }

    /// The same where there is no error to return: the process ends.
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
                // Another thread of this process is at it.
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
        outcome
    }

    /// Forgets the threads that are not in this process, if they left the heap in order.
    fn take_over(&self) -> Result<(), ForkError> {
        if !is_first_thread() && self.registry.count() > 0 {
            return Err(ForkError::NotYet);
        }
        let own = own_state(self);
        let stopping = is_stopping_that(&self.registry);
        let others = self.registry.others_at_rest(own, stopping)?;
        // Who stops the world has the regions itself.
        let at_rest = (stopping || self.regions.try_lock().is_ok())
            && self.roots.is_at_rest()
            && self.free.is_at_rest()
            && self.collector.is_at_rest();
        if !at_rest {
            return Err(ForkError::Locked);
        }
        renew_system_id();
        self.collector.forget_threads();
        others.into_iter().for_each(|state| self.forget(state));
        Ok(())
    }

    /// Lets go what a thread had that is not in this process.
    fn forget(&self, state: NonNull<State>) {
        // SAFETY: the thread was safe when the process was forked, so the state was in order;
        // nobody frees it, for its thread is not here, and its memory is given up with it.
        let state = unsafe { state.as_ref() };
        state.let_lapse();
        state.leave();
        self.registry.forget(state);
    }
}

/// A heap that is dropped by a child that never used it: its threads are not there to be waited
/// for.
impl Drop for Shared {
    fn drop(&mut self) {
        if self.process.load() != HERE {
            self.collector.forget_threads();
        }
    }
}

impl Mutator<'_> {
    /// As [`Shared::after_fork_or_abort`].
    #[inline]
    pub(in crate::mutator) fn after_fork_or_abort(&self) {
        self.state().shared.after_fork_or_abort();
    }
}
